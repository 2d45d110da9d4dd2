package source_test

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"handloom/guide/internal/source"
)

const library = `package sample

var (
	ErrFull, errOwn = 1, 2
	Errand          = ErrFull
)

type BadError struct{}
type hiddenError struct{}

type kept struct{ what string }

func (k *kept) Error() string { return fmt.Sprintf("sample: %s was kept", k.what) }

func f(n int, what string) {
	panic(fmt.Sprintf("sample: f of %d items, %+v", n, what))
	panic("sample: " + what + " twice")
	panic(&kept{"it"})
	panic(wrapped(n))
	fmt.Println("panic")
}
`

func TestFind_ListsErrorsAndPanics(t *testing.T) {
	root := t.TempDir()
	wrong := os.CopyFS(root, fstest.MapFS{"sample/sample.go": {Data: []byte(library)}, "sample/sample_test.go": {Data: []byte("package sample\nvar ErrTest = 1\n")}})
	f, err := source.Find(root, "sample")
	if wrong != nil || err != nil {
		t.Fatal(wrong, err)
	}
	if want := []source.Error{{"sample", "ErrFull"}, {"sample", "BadError"}}; !slices.Equal(f.Errors, want) {
		t.Errorf("errors %v, want %v", f.Errors, want)
	}
	for i, says := range []string{
		"sample: f of 7 items, {A:1}",
		"sample: Sort twice",
		"sample: it was kept",
	} {
		if form := f.Panics[i].Forms()[0]; !form.MatchString(says) {
			t.Errorf("%v does not match %q", form, says)
		}
	}
	if len(f.Panics) != 4 || len(f.Panics[3].Says) != 0 || f.Panics[3].Text != "wrapped(n)" || f.Panics[3].At.Line != 19 {
		t.Errorf("panics %+v", f.Panics)
	}
	if form := f.Panics[1].Forms()[0]; form.MatchString("sample: Sort twice, and more") {
		t.Errorf("%v matches too much", form)
	}
	if _, err := source.Find(root, "none"); err == nil {
		t.Error("Find of an empty folder returned no error")
	}
}
