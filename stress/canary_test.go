//go:build handloom_canary

package main

import (
	"strings"
	"testing"

	"handloom/internal/canary"
	"handloom/stress/internal/campaign"
)

// The proof that the harness can fail: it finds every fault that is put in on
// purpose.
func TestEveryCanaryIsFound(t *testing.T) {
	got := stress(t, "-canary", "all", "-seed", "1")
	if got.code != campaign.ExitPassed {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
	for _, f := range canary.All() {
		if !strings.Contains(got.stdout, " "+f.String()+" ") {
			t.Errorf("the table has no line for %v", f)
		}
	}
}

// A build with faults that are not turned on is right.
func TestWithoutACanaryTheBuildPasses(t *testing.T) {
	if got := stress(t, "-seed", "1", "-seeds", "20"); got.code != campaign.ExitPassed {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
}

func TestAnUnknownCanaryIsWrongUsage(t *testing.T) {
	got := stress(t, "-canary", "budgie")
	if got.code != exitBad || !strings.Contains(got.stderr, `no fault is called "budgie"; want resolve-ignores-free-bit, `) {
		t.Errorf("exit code %d, %s", got.code, got.stderr)
	}
}
