package kills

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also the program that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		os.Exit(Child(os.Args[2:], os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

// TestNothingIsLost finds the faults that are put into the journal and the world.
func TestNothingIsLost(t *testing.T) {
	n := 12
	if testing.Short() {
		n = 4
	}
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	r, err := Run(context.Background(), Options{
		Dir: filepath.Join(t.TempDir(), "log"), Kills: n, Seed: 1, Command: []string{path}, Progress: func(*Result) { calls++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Faults {
		t.Error(f)
	}
	if r.Kills != n || calls < n || r.Acks == 0 || r.Ticks == 0 {
		t.Errorf("%+v", r)
	}
}

// What a listener is there to find, by lines that a faulty child would say.
func TestWhatIsLostIsFound(t *testing.T) {
	for lines, want := range map[string]Result{
		"open 0 1, tick 1 2, ack 5, open 1 2, tick 2 3": {Ticks: 2, Acks: 1},
		"tick 1 2, tick 2 3, open 1 2":                  {Ticks: 2, LostTicks: 1},
		"tick 1 2, tick 2 3, tick 2 3":                  {Ticks: 2, LostTicks: 1},
		"tick 1 2, tick 2 3, replay 2 4, open 2 3":      {Ticks: 2, Replayed: 1, Wrong: 2},
		"tick 1 2, open 1 7":                            {Ticks: 1, Wrong: 1},
	} {
		r := Result{digests: map[uint64]uint64{}, acked: map[uint64]bool{}}
		for line := range strings.SplitSeq(lines, ", ") {
			l := listener{Result: &r}
			if !l.line(line) || l.failed != "" {
				t.Fatalf("%s: %q", line, l.failed)
			}
		}
		if r.Ticks != want.Ticks || r.Acks != want.Acks || r.Replayed != want.Replayed || r.LostTicks != want.LostTicks || r.Wrong != want.Wrong || r.Bad() != (want.LostTicks+want.Wrong > 0) {
			t.Errorf("%s: %+v", lines, r)
		}
	}
	for _, line := range []string{"", "tick", "tick 1", "ti", "ack x", "open 1 x"} {
		l := listener{Result: &Result{digests: map[uint64]uint64{}, acked: map[uint64]bool{}}}
		if l.line(line) || l.failed == "" {
			t.Errorf("%q is a line", line)
		}
	}
}
