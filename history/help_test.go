package history

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"handloom/journal"
	"handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recording is the folder of a world that played a game, with digests and sums after each tick.
type recording struct {
	dir     string
	digests map[uint64]uint64
	entries map[uint64]uint64
	ticks   map[uint64]world.Tick
	last    uint64
	failed  error // error of the last tick
}

type herd = game.Game

// A variant changes the program of a term.
type variant func(g *game.Game, o *world.Options)

// record plays n ticks of a game in terms of 30, with a snapshot after every 20 and at the end of
// each term. Each variant is a term's program; the last one continues. A tick that fails is run
// without its input if another variant follows. With all the folder keeps every snapshot.
func record(t *testing.T, n int, all bool, terms ...variant) *recording {
	t.Helper()
	r := &recording{dir: t.TempDir(), digests: map[uint64]uint64{}, entries: map[uint64]uint64{}, ticks: map[uint64]world.Tick{}}
	archive := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l, err := journal.Open(r.dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 12, Archive: func(_ context.Context, name string, from io.Reader) error {
			b, err := io.ReadAll(from)
			return errors.Join(err, os.WriteFile(filepath.Join(archive, name), b, 0o644))
		}})
		noError(t, err)
		for term := 0; r.last < uint64(n) && (r.failed == nil || term < len(terms)); term++ {
			next := terms[min(term+1, len(terms)-1)]
			r.playTerm(t, l, min(n, int(r.last)+30), terms[min(term, len(terms)-1)], next)
		}
		noError(t, l.Close())
	})
	if all {
		noError(t, os.CopyFS(r.dir, os.DirFS(archive)))
	}
	return r
}

func (r *recording) playTerm(t *testing.T, l world.Log, upTo int, change, next variant) {
	if r.failed != nil {
		noError(t, world.SkipInput(t.Context(), l, r.last+1))
	}
	r.failed = nil
	g, o := program(change, 1)
	o.Idle, o.SnapshotTicks, o.DigestTicks = 100*time.Millisecond, 20, 5
	o.Applied = func(ctx context.Context, a world.Outcome) {
		d, err := g.Digest(ctx)
		noError(t, err)
		r.digests[a.Number], r.entries[a.Number], r.ticks[a.Number], r.last = d, g.Entries(), a.Tick, a.Number
	}
	w, err := world.Open(t.Context(), g.Store, l, o)
	noError(t, err)
	for r.last < uint64(upTo) && r.failed == nil {
		if n := r.last + 1; n%3 == 0 {
			go func() { _, _ = w.Submit(t.Context(), g.Leave(n)) }()
			synctest.Wait()
		}
		_, r.failed = w.Step(t.Context())
		synctest.Wait()
	}
	if _, other := program(next, 1); other.Version != o.Version && r.failed == nil {
		noError(t, w.Handoff(t.Context(), other.Version))
	}
	noError(t, w.Close(t.Context()))
}

func program(change variant, workers int) (*game.Game, world.Options) {
	g := game.New(workers, 50)
	o := options(g)
	change(g, &o)
	return g, o
}

func options(g *game.Game) world.Options {
	return world.Options{Version: "game", Hz: 60, Init: g.Init, Tick: g.Tick}
}

func same(*game.Game, *world.Options) {}

// failsAt fails a tick with its call.
func failsAt(tick uint64) variant {
	return func(g *game.Game, o *world.Options) {
		o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
			err := g.Tick(ctx, w, at)
			return errors.Join(err, failIf(at.Number == tick && len(g.Left(tick)) > 0, errGame))
		}
	}
}

var errGame = errors.New("the game is up")

func version(v string) variant { return func(_ *game.Game, o *world.Options) { o.Version = v } }

// replay is the program of a recording, with a change and the checks of its game.
func replay(change variant, checks func(g *game.Game) Checks) Game {
	return Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		g, o := program(change, workers)
		if checks == nil {
			return g.Store, o, nil, nil
		}
		return g.Store, o, checks(g), nil
	}}
}

// beforeTicks returns g with a function that each tick calls first.
func beforeTicks(g Game, f func(at world.Tick)) Game {
	return Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		s, o, checks, err := g.New(workers)
		tick := o.Tick
		o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
			f(at)
			return tick(ctx, w, at)
		}
		return s, o, checks, err
	}}
}

func mustOpen(t testing.TB, dir string, g Game, o Options) *History {
	t.Helper()
	h, err := Open(t.Context(), dir, g, o)
	noError(t, err)
	t.Cleanup(func() { noError(t, h.Close()) })
	return h
}

// wantState seeks a tick and compares the state with the world's.
func (r *recording) wantState(t testing.TB, h *History, tick uint64) {
	t.Helper()
	s, at, err := h.Seek(t.Context(), tick)
	noError(t, err)
	d, err := s.Digest(t.Context())
	noError(t, err)
	if tick > 0 && (at != r.ticks[tick] || d != r.digests[tick]) {
		t.Fatalf("Seek of tick %d: %+v with digest %x, want %+v with %x", tick, at, d, r.ticks[tick], r.digests[tick])
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error        { return err }
func third[S, T any](_ S, _ T, err error) error { return err }

// itemOf returns an item by its text.
func itemOf(t testing.TB, text string) store.ID {
	t.Helper()
	id, err := store.ParseID(text)
	noError(t, err)
	return id
}

// damage changes a byte of the first file.
func damage(t *testing.T, dir, pattern string, at func(file []byte) int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pattern))
	noError(t, err)
	b, err := os.ReadFile(slices.Min(files))
	noError(t, err)
	b[at(b)] ^= 1
	noError(t, os.WriteFile(slices.Min(files), b, 0o600))
}

// wantError wants an error with a text, which is want unless that is nil.
func wantError(t testing.TB, err, want error, text string) {
	t.Helper()
	if err == nil || want != nil && !errors.Is(err, want) || !strings.Contains(err.Error(), text) {
		t.Errorf("got error %v, want %v with %q", err, want, text)
	}
}
