package world

import (
	"errors"
	"testing"

	"handloom/internal/entrance"
	"handloom/internal/entry"
	"handloom/store"
)

func TestErrVersion_NeedsSameProgram(t *testing.T) {
	s := store.New(store.Options{})
	claim, err := s.Entrance(entrance.Key{}).OpenClaim(t.Context())
	noError(t, err)
	defer claim.Release()
	local := entry.TermStart{Version: "game", Arch: "amd64", Go: "go1.26.1", Hz: 60, Schema: entry.Chain{1}}
	for name, c := range map[string]struct {
		change   func(e *entry.TermStart)
		refused  bool
		portable bool // refused also with Options.Portable
	}{
		"the same":        {func(*entry.TermStart) {}, false, false},
		"another rate":    {func(e *entry.TermStart) { e.Hz = 30 }, false, false},
		"another program": {func(e *entry.TermStart) { e.Version = "game 2" }, true, true},
		"other tables":    {func(e *entry.TermStart) { e.Schema = entry.Chain{2} }, true, true},
		"another machine": {func(e *entry.TermStart) { e.Arch = "arm64" }, true, false},
		"another Go":      {func(e *entry.TermStart) { e.Go = "go1.26.2" }, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := local
			c.change(&other)
			for portable, want := range map[bool]bool{false: c.refused, true: c.portable} {
				w := World{exclusive: claim, termStart: local, o: Options{Portable: portable}}
				if err := w.mayApply(&other); errors.Is(err, ErrVersion) != want || (err != nil) != want {
					t.Errorf("portable %t: %v, want refused %t", portable, err, want)
				}
			}
		})
	}
}
