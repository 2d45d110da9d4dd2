package handlemap_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

func TestFreelist_Inlines(t *testing.T) {
	// A generic method is compiled where it is instantiated: in testdata.
	out, err := exec.Command("go", "build", "-gcflags=-m", "./testdata/inline").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, call := range []string{`insert\.go:.*slotset\.TryPop\[`, `insert\.go:.*slotset\.Reissue\[`, `erase\.go:.*slotset\.TryRetire\[`} {
		if !regexp.MustCompile(strings.Replace(call, ".*", ".*inlining call to ", 1)).Match(out) {
			t.Errorf("the compiler does not inline %s:\n%s", call, out)
		}
	}
}
