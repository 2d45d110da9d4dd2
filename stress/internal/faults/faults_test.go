package faults

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

func TestAPatchChangesTheLinesItNames(t *testing.T) {
	f, err := Parse("two", two)
	if err != nil {
		t.Fatal(err)
	}
	if f.About != "Two and four are something else." || f.Rare || f.Test != "" {
		t.Errorf("%+v", f)
	}
	got, err := f.Apply(fstest.MapFS{
		"a/x.go": {Data: []byte("one\ntwo\n\nthree\nfour\n")},
		"y.go":   {Data: []byte("four and\nfive\n")},
	})
	if err != nil || len(got) != 2 || got["a/x.go"] != "one\ndeux\n\nthree\n" || got["y.go"] != "four and\nfive\nsix\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLinesThatAreNotThereOnceAreAnError(t *testing.T) {
	f, err := Parse("two", two)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"one\n\ntwo\nfour\n":              `two.patch:5: the lines from "one" are in a/x.go 0 times, not once`,
		"one\ntwo\none\ntwo\nfour\n":      `two.patch:5: the lines from "one" are in a/x.go 2 times, not once`,
		"one\ntwo\nthirty-four\n":         `two.patch:9: the lines from "four" are in a/x.go 0 times, not once`,
		"one\ntwo\nfour\nfour\nnothing\n": `two.patch:9: the lines from "four" are in a/x.go 2 times, not once`,
	} {
		if _, err := f.Apply(fstest.MapFS{"a/x.go": {Data: []byte(text)}}); err == nil || err.Error() != want {
			t.Errorf("%q: %v; want %s", text, err, want)
		}
	}
	if _, err := f.Apply(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "a/x.go") {
		t.Errorf("without the file: %v", err)
	}
}

func TestAMalformedPatchIsRefusedByItsLine(t *testing.T) {
	for text, want := range map[string]string{
		"--- x\n@@\n-a\n":                 "bad.patch: it does not say what is wrong then",
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

func TestAPatchSaysWhatFindsTheFault(t *testing.T) {
	f, err := Parse("kept", "Kept.\nrare\ntest: ./store TestX\n--- x\n@@\n-a\n")
	if err != nil || f.About != "Kept." || !f.Rare || f.Package != "./store" || f.Test != "TestX" {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestAnOverlayLeavesTheModuleAsItIs(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	original := filepath.Join(root, "y.go")
	if err := os.WriteFile(original, []byte("five\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Parse("six", "Six.\n--- y.go\n@@\n-five\n+six\n")
	if err != nil {
		t.Fatal(err)
	}
	file, err := f.Overlay(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &overlay); err != nil || len(overlay.Replace) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	if copied, err := os.ReadFile(overlay.Replace[original]); err != nil || string(copied) != "six\n" {
		t.Errorf("the copy is %q, %v", copied, err)
	}
	if left, err := os.ReadFile(original); err != nil || string(left) != "five\n" {
		t.Errorf("the original is %q, %v", left, err)
	}
}
