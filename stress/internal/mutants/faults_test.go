package mutants

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

const two = `Two and four are
something else.

--- a/x.go
@@
 one
-two
+deux
@@
-four
--- y.go
@@
 five
+six
`

func TestPatch_ChangesItsLines(t *testing.T) {
	f := mustParse(t, "two", two)
	if f.About != "Two and four are something else." || f.Test != Programs {
		t.Errorf("%+v", f)
	}
	got, err := f.apply(fstest.MapFS{
		"a/x.go": {Data: []byte("one\ntwo\n\nthree\nfour\n")},
		"y.go":   {Data: []byte("four and\nfive\n")},
	})
	if err != nil || len(got) != 2 || got["a/x.go"] != "one\ndeux\n\nthree\n" || got["y.go"] != "four and\nfive\nsix\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestPatch_LinesMustOccurOnce(t *testing.T) {
	f := mustParse(t, "two", two)
	for text, want := range map[string]string{
		"one\n\ntwo\nfour\n":              `two.patch:5: the lines from "one" are in a/x.go 0 times, not once`,
		"one\ntwo\none\ntwo\nfour\n":      `two.patch:5: the lines from "one" are in a/x.go 2 times, not once`,
		"one\ntwo\nthirty-four\n":         `two.patch:9: the lines from "four" are in a/x.go 0 times, not once`,
		"one\ntwo\nfour\nfour\nnothing\n": `two.patch:9: the lines from "four" are in a/x.go 2 times, not once`,
	} {
		if _, err := f.apply(fstest.MapFS{"a/x.go": {Data: []byte(text)}}); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	if _, err := f.apply(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "a/x.go") {
		t.Errorf("without the file: %v", err)
	}
}

func TestParse_ErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"--- x\n@@\n-a\n":                 "bad.patch: no description of the fault",
		"wrong\n":                         "bad.patch: it changes nothing",
		"wrong\n--- x\n-a\n":              "bad.patch:3: want a line @@ before the first line of a place",
		"wrong\n--- x\n@@\n-a\n--- y\n-b": "bad.patch:6: want a line @@ before the first line of a place",
		"wrong\n--- x\n@@\na\n":           "bad.patch:4: want a line that begins with a space, - or +",
		"wrong\n--- x\n@@\n+a\n":          "bad.patch:3: want lines that are there, and a change of them",
		"wrong\n--- x\n@@\n a\n":          "bad.patch:3: want lines that are there, and a change of them",
		"wrong\ntest: TestX\n--- x\n":     "bad.patch:2: want test: PACKAGE NAME",
	} {
		if _, err := Parse("bad", text); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
}

func TestPatch_NamesItsDetector(t *testing.T) {
	f, err := Parse("kept", "Kept.\ntest: ./store TestX\n--- x\n@@\n-a\n")
	if err != nil || f.About != "Kept." || f.Package != "./store" || f.Test != "TestX" {
		t.Errorf("%+v, %v", f, err)
	}
}

const module = `// Package y has three functions.
package y

// Five is 5.
func Five() int { return 5 }

func count(n *int) {
	// up
	*n++
}

type t struct{}

func (t) six() int {
	return 6
}
`

func mustParse(t *testing.T, name, text string) *Fault {
	t.Helper()
	f, err := Parse(name, text)
	noError(t, err)
	return f
}

// Each fault replaces the whole body, so faults of one function are
// independent.
func TestOverlay_SwitchesFaultsOfOneFile(t *testing.T) {
	down := mustParse(t, "down", "Down.\n--- y.go\n@@\n-	*n++\n+	*n--\n@@\n-func Five() int { return 5 }\n+func Five() int { return 4 }\n")
	none := mustParse(t, "none", "None.\n--- y.go\n@@\n-	*n++\n")
	all, err := sources([]*Fault{down, none}, fstest.MapFS{"y.go": {Data: []byte(module)}})
	noError(t, err)
	want := strings.NewReplacer(
		"int {", "int {\nif faultThatIsOn == \"down\" { return 4 \n}\n",
		"count(n *int) {", `count(n *int) {
if faultThatIsOn == "down" {
	// up
	*n--

return
}

if faultThatIsOn == "none" {
	// up

return
}
`).Replace(module[:strings.Index(module, "type")]) + module[strings.Index(module, "type"):]
	if got := all["y.go"].text(); got != want {
		t.Errorf("the copy is\n%s\nwant\n%s", got, want)
	}
}

func TestOverlay_AcceptsOnlyFunctionBodies(t *testing.T) {
	for _, tt := range []struct{ change, want string }{
		{"-type t struct{}\n+type t int\n", "bad.patch: it changes more of a file than the bodies of functions"},
		{"-func (t) six() int {\n+func (t) six() int8 {\n", "bad.patch: it changes more of a file than the bodies of functions"},
		{"-	return 6\n+	return (6\n", "y.go with bad:15:11: expected ')', found newline"},
	} {
		f := mustParse(t, "bad", "Bad.\n--- y.go\n@@\n"+tt.change)
		if _, err := sources([]*Fault{f}, fstest.MapFS{"y.go": {Data: []byte(module)}}); err == nil || err.Error() != tt.want {
			t.Errorf("%q: %v; want %s", tt.change, err, tt.want)
		}
	}
}

func TestOverlay_KeepsTheModule(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	original := filepath.Join(root, "y.go")
	noError(t, os.WriteFile(original, []byte(module), 0o644))
	seven := mustParse(t, "seven", "Seven.\n--- y.go\n@@\n-	return 6\n+	return 7\n")
	file, err := Overlay([]*Fault{seven}, root, dir)
	noError(t, err)
	text, err := os.ReadFile(file)
	noError(t, err)
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &overlay); err != nil || len(overlay.Replace) != 2 {
		t.Fatalf("%s: %v", text, err)
	}
	if copied, err := os.ReadFile(overlay.Replace[original]); err != nil || !strings.Contains(string(copied), "return 7") {
		t.Errorf("the copy is %q, %v", copied, err)
	}
	want := "package y\n\nimport \"os\"\n\nvar faultThatIsOn = os.Getenv(\"HANDLOOM_FAULT\")\n"
	if s, err := os.ReadFile(overlay.Replace[filepath.Join(root, "fault_that_is_on.go")]); err != nil || string(s) != want {
		t.Errorf("the switch is %q, %v", s, err)
	}
	if left, err := os.ReadFile(original); err != nil || string(left) != module {
		t.Errorf("the original is %q, %v", left, err)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
