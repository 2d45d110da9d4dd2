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

// The ranges have the versions, terms and skipped ticks of the log.
func TestRanges_NameVersionsTermsAndSkips(t *testing.T) {
	ctx := t.Context()
	r := record(t, 90, true, failsAt(12), failsAt(12), version("two"))
	var seeks []error
	for _, c := range []struct {
		version string
		any     bool
		want    error
	}{{"game", false, world.ErrVersion}, {"two", false, world.ErrVersion}, {"three", false, world.ErrVersion}, {"three", true, nil}} {
		h := mustOpen(t, r.dir, replay(both(failsAt(12), version(c.version)), nil), Options{Any: c.any})
		ranges := h.Ranges()
		if len(ranges) != 2 {
			t.Fatalf("got %+v, want two ranges", ranges)
		}
		for i, want := range []Range{{First: 0, Last: 41, Version: "game", Terms: []uint64{12}, Skipped: []uint64{12}}, {First: 41, Last: 90, Version: "two", Terms: []uint64{71}}} {
			got := ranges[i]
			if got.First != want.First || got.Last != want.Last || got.Version != want.Version || !slices.Equal(got.Terms, want.Terms) || !slices.Equal(got.Skipped, want.Skipped) || errors.Is(got.Err, world.ErrVersion) != (i == 0) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
		for _, tick := range []uint64{12, 30, 60, 90} {
			sp := ranges[0]
			if tick > 41 {
				sp = ranges[1]
			}
			_, _, err := h.Seek(ctx, tick)
			if c.any || sp.Version == c.version {
				r.wantState(t, h, tick)
				continue
			}
			wantError(t, err, world.ErrVersion, `got "`+sp.Version+`", want "`+c.version+`"`)
			seeks = append(seeks, err)
		}
	}
	if len(seeks) != 8 {
		t.Errorf("%d seeks are refused, want 8", len(seeks))
	}
}

// A range has the snapshots of its version alone, also after a second handoff.
func TestRanges_OfThreeVersions(t *testing.T) {
	r := record(t, 90, true, same, version("two"), version("three"))
	h := mustOpen(t, r.dir, replay(version("three"), nil), Options{Any: true})
	var got []string
	for i, v := range h.Ranges() {
		got = append(got, fmt.Sprintf("%d to %d of %s, %d snapshots", v.First, v.Last, v.Version, len(h.spans[i].starts)))
	}
	if want := []string{"0 to 30 of game, 3 snapshots", "30 to 60 of two, 3 snapshots", "60 to 90 of three, 3 snapshots"}; !slices.Equal(got, want) {
		t.Errorf("got ranges %q, want %q", got, want)
	}
}

func both(a, b variant) variant {
	return func(g *herd, o *world.Options) {
		a(g, o)
		b(g, o)
	}
}

// Each row is a folder, and the error of a Seek.
func TestSeek_ErrorsNameTheTickAndTheCause(t *testing.T) {
	for name, c := range map[string]struct {
		record func(t *testing.T) *recording
		change variant
		tick   uint64
		want   error
		text   string
		good   []uint64
	}{
		"after the log": {kept, same, 1000, ErrRange, "history: tick 1000: the tick is not kept, nearest 100", []uint64{0, 1, 100}},
		"trimmed": {
			func(t *testing.T) *recording { return record(t, 100, false, same) }, same, 3, ErrRange,
			"history: tick 3: the tick is not kept, nearest 90",
			[]uint64{90, 91, 100},
		},
		"damaged record": {damaged, same, 15, ErrRange, "history: tick 15: the tick is not kept, nearest ", []uint64{0, 1, 60, 100}},
		"failed tick": {
			func(t *testing.T) *recording { return record(t, 100, true, failsAt(45)) }, failsAt(45), 45, world.ErrTick,
			"world: tick 45 (record 41): the tick failed: the game is up",
			[]uint64{44, 1},
		},
		"other program": {
			kept, func(_ *herd, o *world.Options) { o.Tick = idle }, 5, world.ErrDiverged,
			"world: after tick 2 (record 3): table ", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.record(t)
			h := mustOpen(t, r.dir, replay(c.change, nil), Options{})
			for range 2 {
				_, _, err := h.Seek(t.Context(), c.tick)
				wantError(t, err, c.want, c.text)
				for _, tick := range c.good {
					r.wantState(t, h, tick)
				}
			}
			if c.want == ErrRange && name == "damaged record" {
				_, _, err := h.Seek(t.Context(), c.tick)
				wantError(t, err, journal.ErrCorrupt, ".log, record ")
				wantError(t, h.Ranges()[0].Err, journal.ErrCorrupt, ".log, record ")
			}
		})
	}
	_, err := Open(t.Context(), t.TempDir(), replay(same, nil), Options{})
	wantError(t, err, os.ErrNotExist, "history: journal: open ")
	_, err = OpenLog(t.Context(), world.Memory(), replay(same, nil), Options{Memory: -1})
	wantError(t, err, err, "history: OpenLog: got Memory -1 and Stores 0, want at least 0")
	h, err := OpenLog(t.Context(), world.Memory(), replay(same, nil), Options{})
	noError(t, err)
	_, _, err = h.Seek(t.Context(), 1)
	wantError(t, err, ErrRange, `history: tick 1: the tick is not kept, nor is any other of version "game"`)
}

// A faultyLog fails where its error is set, and cuts the record at a position.
type faultyLog struct {
	world.Log
	tail, saved error
	cut         uint64
}

func (l faultyLog) Tail(ctx context.Context) (uint64, error) {
	at, err := l.Log.Tail(ctx)
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

func TestOpenLog_NamesTheErrorsOfTheLog(t *testing.T) {
	j, err := journal.OpenRead(record(t, 60, true, same, version("two")).dir)
	noError(t, err)
	defer j.Close()
	for text, l := range map[string]faultyLog{"history: no tail": {tail: errors.New("no tail")}, "history: no list": {saved: errors.New("no list")}} {
		l.Log = j
		_, err := OpenLog(t.Context(), l, replay(same, nil), Options{})
		wantError(t, err, err, text)
	}
	h, err := OpenLog(t.Context(), faultyLog{Log: j, cut: 15}, replay(same, checks), Options{Any: true})
	noError(t, err)
	wantError(t, h.Ranges()[0].Err, world.ErrCorrupt, "history: after record 14: record 15: ")
	noError(t, h.Close())
	h = mustOpen(t, record(t, 60, true, same, version("two")).dir, replay(same, checks), Options{Any: true})
	_, err = h.First(t.Context(), "even", 20, 50)
	wantError(t, err, ErrRange, "history: tick 50: the tick is not kept in one range with tick 20, nearest 30")
}

// The n-th store of an operation cannot be made.
func TestGame_NewMayFailEachTime(t *testing.T) {
	r := record(t, 60, true, same, version("two"))
	good := replay(same, checks)
	for fails := 1; ; fails++ {
		made := 0
		g := Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
			if made++; made == fails {
				return nil, world.Options{}, nil, errGame
			}
			return good.New(workers)
		}}
		h, err := Open(t.Context(), r.dir, g, Options{Any: true, Stores: 1})
		if err == nil {
			_, _, err = h.Seek(t.Context(), 20)
			err = errors.Join(err, h.Verify(t.Context()), h.Close())
		}
		if made < fails {
			noError(t, err)
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
		left := func() error {
			for _, n := range g.Notes.All() {
				if n.Key == 30 { // tick 30 took its call
					return errGame
				}
			}
			return nil
		}
		begun := func() error {
			if g.Entries() > 0 {
				return errGame
			}
			return nil
		}
		return Checks{"left": left, "begun": begun, "flips": func() error {
			if runs++; runs >= holdsFrom {
				return nil
			}
			return left()
		}}
	}), Options{})
	// Only the state before the first tick holds.
	s, err := h.Shortest(t.Context(), "begun", Found{Tick: world.Tick{Number: 40}})
	if noError(t, err); !strings.HasPrefix(s.Text, "tick 1 ") {
		t.Errorf("got %s, want tick 1", s.Text)
	}
	found, err := h.First(t.Context(), "left", 0, 60)
	noError(t, err)
	for {
		holdsFrom, runs = holdsFrom+1, 0
		_, err := h.Shortest(t.Context(), "flips", found)
		if errors.Is(err, ErrImpure) {
			refused++
			wantError(t, err, ErrImpure, fmt.Sprintf(`history: tick %d: two plays of the tick differ: check "flips"`, found.Tick.Number))
		}
		if runs < holdsFrom {
			noError(t, err)
			break
		}
	}
	if refused == 0 {
		t.Error("no Shortest is refused")
	}
}

func kept(t *testing.T) *recording { return record(t, 100, true, same) }

// damaged returns a recording whose records after the first snapshots have a damaged byte.
func damaged(t *testing.T) *recording {
	r := kept(t)
	files, err := filepath.Glob(filepath.Join(r.dir, "*.log"))
	noError(t, err)
	for _, file := range files {
		b, err := os.ReadFile(file)
		noError(t, err)
		if i := bytes.Index(b, []byte("call")); i > 0 {
			b[i] ^= 1
			noError(t, os.WriteFile(file, b, 0o644))
			return r
		}
	}
	t.Fatal("no record has a call")
	return nil
}

func idle(context.Context, *store.Writer, world.Tick) error { return nil }
