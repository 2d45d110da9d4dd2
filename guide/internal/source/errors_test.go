package source_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

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
	if err := os.Mkdir(filepath.Join(root, "sample"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"sample.go": library, "sample_test.go": "package sample\nvar ErrTest = 1\n"} {
		if err := os.WriteFile(filepath.Join(root, "sample", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := source.Find(root, "sample")
	if err != nil {
		t.Fatal(err)
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
