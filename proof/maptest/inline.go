package maptest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handloom/internal/check"
)

// A lookup is cheaper than a call.
func (s suite) Get_Inlines(t *testing.T) {
	if check.Cheap {
		t.Skip("the compiler is the same in this build")
	}
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Skip("no go command:", err)
	}
	// Generic methods are compiled where they are instantiated: in testdata.
	build := exec.Command("go", "build", "-gcflags=-m", "./shard/"+s.Name+"/testdata/inline")
	build.Dir = filepath.Dir(strings.TrimSpace(string(mod)))
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, method := range []string{"Get", "Has"} {
		if inlined := regexp.MustCompile(`inlining call to ` + s.Name + `\.\(\*Map\[.*\]\)\.` + method + `\n`); !inlined.Match(out) {
			t.Errorf("the compiler does not inline %s:\n%s", method, out)
		}
	}
}
