package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// rangesOf returns the ranges as texts.
func rangesOf(h *History) (all []string) {
	for i, r := range h.Ranges() {
		all = append(all, fmt.Sprintf("%d to %d of %s, terms %v, skipped %v, %d snapshots, ends by version %v", r.First, r.Last, r.Version, h.spans[i].terms, h.spans[i].skipped, len(h.spans[i].starts), errors.Is(r.Err, world.ErrVersion)))
	}
	return all
}

// The ranges have the versions, terms and skipped ticks of the log. Each has the snapshots of its
// version alone, also after a second handoff.
func TestRanges_NameVersionsTermsAndSkips(t *testing.T) {
	three := record(t, 90, true, same, version("two"), version("three"))
	saved, err := filepath.Glob(filepath.Join(three.dir, "*.snap"))
	noError(t, err)
	for _, want := range [][]string{{
		"0 to 30 of game, terms [], skipped [], 3 snapshots, ends by version true",
		"30 to 60 of two, terms [], skipped [], 3 snapshots, ends by version true",
		"60 to 90 of three, terms [], skipped [], 3 snapshots, ends by version false",
	}, { // without the snapshot of tick 30
		"0 to 30 of game, terms [], skipped [], 2 snapshots, ends by version true",
		"50 to 60 of two, terms [], skipped [], 2 snapshots, ends by version true",
		"60 to 90 of three, terms [], skipped [], 3 snapshots, ends by version false",
	}} {
		if got := rangesOf(mustOpen(t, three.dir, replay(same, nil), Options{})); !slices.Equal(got, want) {
			t.Errorf("got ranges %q, want %q", got, want)
		}
		_ = os.Remove(saved[2])
	}
	r := record(t, 90, true, failsAt(12), failsAt(12), version("two"))
	refused := 0
	for _, c := range []struct {
		version string
		any     bool
	}{{"game", false}, {"two", false}, {"three", false}, {"three", true}} {
		h := mustOpen(t, r.dir, replay(func(g *herd, o *world.Options) {
			failsAt(12)(g, o)
			o.Version = c.version
		}, nil), Options{Any: c.any})
		got := rangesOf(h)
		if want := []string{
			"0 to 41 of game, terms [12], skipped [12], 4 snapshots, ends by version true",
			"41 to 90 of two, terms [71], skipped [], 4 snapshots, ends by version false",
		}; !slices.Equal(got, want) {
			t.Errorf("got ranges %q, want %q", got, want)
		}
		for tick, of := range map[uint64]string{12: "game", 30: "game", 60: "two", 90: "two"} {
			if c.any || of == c.version {
				r.wantState(t, h, tick)
				continue
			}
			wantError(t, third(h.Seek(t.Context(), tick)), world.ErrVersion, `got "`+of+`", want "`+c.version+`"`)
			refused++
		}
	}
	if refused != 8 {
		t.Errorf("%d seeks are refused, want 8", refused)
	}
}

// An error does not change the states of other ticks.
func TestSeek_ErrorsNameTheTickAndTheCause(t *testing.T) {
	whole, damaged := record(t, 100, true, same), record(t, 100, true, same)
	damage(t, damaged.dir, "*.log", func(b []byte) int { return bytes.Index(b, []byte("call")) })
	for _, c := range []struct {
		from   *recording
		change variant
		tick   uint64
		want   error
		text   string
		good   []uint64
	}{
		{whole, same, 1000, ErrRange, "history: tick 1000: the tick is not kept, nearest 100", []uint64{0, 1, 100}},
		{record(t, 100, false, same), same, 3, ErrRange, "history: tick 3: the tick is not kept, nearest 90", []uint64{90, 91, 100}},
		{damaged, same, 15, journal.ErrCorrupt, "history: tick 15: the tick is not kept, nearest ", []uint64{0, 1, 60, 100}},
		{record(t, 100, true, failsAt(45)), failsAt(45), 45, world.ErrTick, "world: tick 45 (record 41): the tick failed: the game is up", []uint64{44, 1}},
		{whole, func(_ *herd, o *world.Options) {
			o.Tick = func(context.Context, *store.Writer, world.Tick) error { return nil }
		}, 5, world.ErrDiverged, "world: after tick 2 (record 3): table ", nil},
	} {
		h := mustOpen(t, c.from.dir, replay(c.change, nil), Options{})
		for range 2 {
			_, _, err := h.Seek(t.Context(), c.tick)
			wantError(t, err, c.want, c.text)
			for _, tick := range c.good {
				c.from.wantState(t, h, tick)
			}
			if c.from == damaged {
				wantError(t, err, ErrRange, ".log, record ")
				wantError(t, h.Ranges()[0].Err, journal.ErrCorrupt, ".log, record ")
			}
		}
	}
}

// A faultyLog fails where its error is set, cuts the record at a position, and loses the records
// after another one.
type faultyLog struct {
	world.Log
	tail, saved error
	cut, last   uint64
}

func (l faultyLog) Tail(ctx context.Context) (uint64, error) {
	at, err := l.Log.Tail(ctx)
	if l.last > 0 {
		at = l.last
	}
	return at, errors.Join(err, l.tail)
}

func (l faultyLog) Snapshots(ctx context.Context) ([]uint64, error) {
	all, err := l.Log.Snapshots(ctx)
	return all, errors.Join(err, l.saved)
}

func (l faultyLog) Read(ctx context.Context, after uint64, f func(at uint64, rec []byte) error) error {
	return l.Log.Read(ctx, after, func(at uint64, rec []byte) error {
		if at == l.cut {
			rec = rec[:len(rec)-1]
		}
		return f(at, rec)
	})
}

// Each row is a call and its error.
func TestErrors_NameCauseAndRemedy(t *testing.T) {
	ctx := t.Context()
	r := record(t, 60, true, same, version("two"))
	g := replay(same, checks)
	j, err := journal.OpenRead(r.dir)
	noError(t, err)
	defer j.Close()
	h := mustOpen(t, r.dir, g, Options{Any: true, Stores: 2})
	cut, err := OpenLog(ctx, faultyLog{Log: j, cut: 15}, g, Options{Any: true})
	noError(t, err)
	noError(t, cut.Close())
	shrinks := &faultyLog{Log: j}
	shrunk, err := OpenLog(ctx, shrinks, g, Options{Any: true})
	noError(t, err)
	shrinks.last = 3
	empty, err := OpenLog(ctx, world.Memory(), g, Options{})
	noError(t, err)
	failing := record(t, 100, true, failsAt(81))
	fails := mustOpen(t, failing.dir, replay(failsAt(81), checks), Options{Stores: 2})
	past, gone := itemOf(t, "8:0.1"), itemOf(t, "8:99.1")
	for _, c := range []struct {
		got, want error // nil: any
		text      string
	}{
		{second(Open(ctx, t.TempDir(), g, Options{})), os.ErrNotExist, "history: journal: open "},
		{second(OpenLog(ctx, world.Memory(), g, Options{Memory: -1})), nil, "history: OpenLog: got Memory -1 and Stores 0, want at least 0"},
		{second(OpenLog(ctx, faultyLog{Log: j, tail: errGame}, g, Options{})), errGame, "history: the game is up"},
		{second(OpenLog(ctx, faultyLog{Log: j, saved: errGame}, g, Options{})), errGame, "history: the game is up"},
		{cut.Ranges()[0].Err, world.ErrCorrupt, "history: after record 14: record 15: "},
		{h.Ranges()[0].Err, world.ErrVersion, `history: after tick 30: the log has another version: got "two", want "game"`},
		{third(empty.Seek(ctx, 1)), ErrRange, `history: tick 1: the tick is not kept, nor is any other of version "game"`},
		{third(shrunk.Seek(ctx, 15)), ErrRange, ": the tick is not kept, nearest "},
		{third(h.First(ctx, "even", 20, 50)), ErrRange, "history: tick 50: the tick is not kept in one range with tick 20, nearest 30"},
		{third(fails.First(ctx, "gold", 1, 80)), nil, `history: First: got check "gold", want one of even, few, holds, panics`},
		{third(fails.Turn(ctx, "gold", 1, 80)), nil, `history: Turn: got check "gold", want one of even, few, holds, panics`},
		{third(fails.First(ctx, "few", 3, 2)), nil, "history: First: got ticks 3 to 2, want the first not after the last"},
		{third(fails.First(ctx, "few", 1, 500)), ErrRange, "history: tick 82: the tick is not kept, nearest 81"},
		{third(fails.Turn(ctx, "few", 1, 500)), ErrRange, "history: tick 82: the tick is not kept, nearest 81"},
		{third(fails.First(ctx, "holds", 1, 81)), world.ErrTick, "tick 81 "},
		{third(fails.Turn(ctx, "holds", 1, 81)), world.ErrTick, "tick 81 "},
		{second(h.Changes(ctx, gone, "", 1, 4)), nil, "history: Changes: item 8:99.1 does not exist in ticks 1 to 4"},
		{second(h.Changes(ctx, past, "", 2, 99)), ErrRange, "nearest 60"},
		{second(h.Changes(ctx, past, "", 0, 9)), nil, "history: Changes: got ticks 0 to 9, want the first at least 1 and not after the last"},
		{second(h.Changes(ctx, past, "", 9, 8)), nil, "got ticks 9 to 8"},
		{second(h.Why(ctx, gone, "", 4)), nil, "history: Why: item 8:99.1 does not exist in ticks 0 to 4"},
		{second(h.Why(ctx, past, "Gold", 4)), nil, `unknown field "Gold" of table "past", want one of "Sum"`},
		{second(h.Why(ctx, past, "", 99)), ErrRange, "nearest 60"},
		{second(h.Why(ctx, past, "", 0)), ErrRange, "history: Why: item 8:0.1 is unchanged since tick 0, where the log begins with Init or a snapshot: the tick is not kept, nearest 1"},
	} {
		wantError(t, c.got, c.want, c.text)
	}
}

// The n-th store of an operation cannot be made.
func TestGame_NewMayFailEachTime(t *testing.T) {
	r := record(t, 60, true, same, version("two"))
	good, asked := replay(same, checks), map[int]bool{}
	for fails := 1; ; fails++ {
		made := 0
		g := Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
			if made++; made == fails {
				return nil, world.Options{}, nil, errGame
			}
			asked[workers] = true
			return good.New(workers)
		}}
		h, err := Open(t.Context(), r.dir, g, Options{Any: true, Stores: 1})
		if err == nil {
			err = errors.Join(third(h.Seek(t.Context(), 20)), h.Close())
		}
		if made < fails {
			if noError(t, err); !asked[0] || !asked[1] || !asked[3] {
				t.Errorf("got stores of %v workers, want 0, 1 and 3", asked)
			}
			return
		}
		wantError(t, err, errGame, "history: Game.New: the game is up")
	}
}

// A check that fails, and holds from its n-th run on, is of an impure program.
func TestShortest_RefusesAnImpureCheck(t *testing.T) {
	r := record(t, 60, true, same)
	holdsFrom, runs, refused := 0, 0, 0
	h := mustOpen(t, r.dir, replay(same, func(g *herd) Checks {
		left := func() error { return failIf(len(g.Left(30)) > 0, errGame) } // tick 30 took its call
		return Checks{"left": left, "begun": func() error { return failIf(g.Entries() > 0, errGame) }, "flips": func() error {
			if runs++; runs >= holdsFrom {
				return nil
			}
			return left()
		}}
	}), Options{})
	// Only the state before the first tick holds.
	s, err := h.Shortest(t.Context(), "begun", 40)
	if noError(t, err); !strings.HasPrefix(s.Text, "tick 1 ") {
		t.Errorf("got %s, want tick 1", s.Text)
	}
	tick, _, err := h.First(t.Context(), "left", 0, 60)
	noError(t, err)
	for runs >= holdsFrom {
		holdsFrom, runs = holdsFrom+1, 0
		if _, err = h.Shortest(t.Context(), "flips", tick.Number); errors.Is(err, ErrImpure) {
			refused++
			wantError(t, err, ErrImpure, fmt.Sprintf(`history: tick %d: two plays of the tick differ: check "flips"`, tick.Number))
		}
	}
	if noError(t, err); refused == 0 {
		t.Error("no Shortest is refused")
	}
}
