package world

import (
	"errors"
	"testing"

	"handloom/store"
)

// Ticks are of one program: its name, its tables, and unless Options.Portable the
// architecture and the version of Go.
func TestEpoch_OthersAreRefused(t *testing.T) {
	s, err := store.New(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	claim, err := s.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer claim.Release()
	own := epoch{program: "game", arch: "amd64", goVersion: "go1.26.1", hz: 60, schema: chain{1}}
	for name, c := range map[string]struct {
		change   func(e *epoch)
		refused  bool
		portable bool // refused also with Options.Portable
	}{
		"the same":        {func(*epoch) {}, false, false},
		"another rate":    {func(e *epoch) { e.hz = 30 }, false, false},
		"another program": {func(e *epoch) { e.program = "game 2" }, true, true},
		"other tables":    {func(e *epoch) { e.schema = chain{2} }, true, true},
		"another machine": {func(e *epoch) { e.arch = "arm64" }, true, false},
		"another Go":      {func(e *epoch) { e.goVersion = "go1.26.2" }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			of := own
			c.change(&of)
			for portable, want := range map[bool]bool{false: c.refused, true: c.portable} {
				w := World{claim: claim, epoch: own, o: Options{Portable: portable}}
				if err := w.mayApply(&of); errors.Is(err, ErrProgram) != want || (err != nil) != want {
					t.Errorf("portable %t: %v, want refused %t", portable, err, want)
				}
			}
		})
	}
}
