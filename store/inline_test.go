package store_test

import (
	"os/exec"
	"regexp"
	"testing"

	"handloom/internal/check"
)

// A lookup in a table must cost no more than a lookup in a map.
func TestLookup_Inlines(t *testing.T) {
	if check.Cheap {
		t.Skip("the compiler is the same in this build")
	}
	// A generic method is compiled where it is instantiated: in testdata.
	out, err := exec.Command("go", "build", "-gcflags=-m", "./testdata/inline").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if element := regexp.MustCompile(`lookup\.go:.*inlining call to store\.\(\*Column\[.*\]\)\.Get\n`); !element.Match(out) {
		t.Errorf("the compiler does not inline Get of a Column:\n%s", out)
	}
	for table, container := range map[string]string{"Table": "dense", "StableTable": "paged"} {
		for _, method := range []string{"Get", "Has"} {
			inlined := regexp.MustCompile(`lookup\.go:.*inlining call to store\.\(\*` + table + `\[.*\]\)\.` + method + `\n`)
			inner := regexp.MustCompile(`inlining call to ` + container + `\.Find\[.*\]\n`)
			if !inlined.Match(out) || !inner.Match(out) {
				t.Errorf("the compiler does not inline %s of a %s:\n%s", method, table, out)
			}
		}
	}
}
