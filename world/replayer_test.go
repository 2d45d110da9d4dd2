package world_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/entrance"
	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// skipped is a tick that fails with its input.
const skipped = 50

func newPlayed(t testing.TB, herd bool, workers int) *game {
	if herd {
		return newHerd(t, store.Options{Workers: workers})
	}
	g := newGame(t, store.Options{Workers: workers})
	g.seeded = true
	g.fault = func(tick world.Tick) error {
		if tick.Number == skipped && g.orders.Len() > 0 {
			return errGame
		}
		return nil
	}
	return g
}

// played returns the journal of three terms with idle ticks and a skipped input, and a game with
// the digests.
func played(t *testing.T, herd bool) (l *journal.Journal, g *game) {
	dir := t.TempDir()
	g = newPlayed(t, herd, 1)
	random := rand.New(rand.NewPCG(1, 1))
	synctest.Test(t, func(t *testing.T) {
		l, err := journal.Open(dir, journal.Options{Sync: journal.Never, SegmentBytes: 1 << 12, Keep: 1 << 20})
		noError(t, err)
		for term := range 4 {
			w := mustOpen(t, g, l, func(o *world.Options) { o.Idle = 200 * time.Millisecond })
			for n := range 30 {
				tick := w.Status().Tick + 1
				if random.IntN(2) == 0 || tick == skipped || n == 29 { // the record of a start follows calls
					for range 1 + random.IntN(3) {
						submit(t.Context(), w, g.order(30*term+n))
					}
				}
				if _, err := w.Step(t.Context()); err != nil {
					wantError(t, err, world.ErrTick)
					noError(t, w.Close(t.Context()))
					noError(t, world.SkipInput(t.Context(), l, tick))
					break
				}
				synctest.Wait()
			}
			mustClose(t, w)
			again := newPlayed(t, herd, 1)
			again.digests, again.open, again.seen = g.digests, g.open, g.seen
			g = again
		}
		noError(t, l.Close())
	})
	l, err := journal.OpenRead(dir)
	noError(t, err)
	t.Cleanup(func() { noError(t, l.Close()) })
	return l, g
}

// A visitor compares each state that a Replayer reaches with the world's.
type visitor struct {
	*world.Replayer
	game, want *game
	ticks      map[uint64]world.Tick
	visits     int
	runs       map[uint64]int // of each tick
}

func newVisitor(t testing.TB, l world.Log, want *game, workers int) *visitor {
	t.Helper()
	v := &visitor{game: newPlayed(t, want.herd != nil, workers), want: want, ticks: map[uint64]world.Tick{}, runs: map[uint64]int{}}
	for _, o := range want.seen {
		v.ticks[o.Number] = o.Tick
	}
	var err error
	o := v.game.options()
	tick := o.Tick
	o.Tick = func(ctx context.Context, w *store.Writer, at world.Tick) error {
		v.runs[at.Number]++
		return tick(ctx, w, at)
	}
	v.Replayer, err = world.NewReplayer(t.Context(), v.game.Store, l, o)
	noError(t, err)
	t.Cleanup(v.Close)
	return v
}

func (v *visitor) check(t testing.TB, tick world.Tick) {
	t.Helper()
	if tick.Number == 0 {
		return
	}
	v.visits++
	if d := digest(t, v.game); tick != v.ticks[tick.Number] || d != v.want.digests[tick.Number] {
		t.Fatalf("after %d visits: %+v with digest %x, want %+v with %x", v.visits, tick, d, v.ticks[tick.Number], v.want.digests[tick.Number])
	}
}

// next reports whether there was a further tick.
func (v *visitor) next(t testing.TB) bool {
	t.Helper()
	tick, err := v.Next(t.Context())
	if err == io.EOF {
		return false
	}
	noError(t, err)
	v.check(t, tick)
	return true
}

func (v *visitor) start(t testing.TB, at uint64) {
	t.Helper()
	tick, err := v.Start(t.Context(), at)
	noError(t, err)
	v.check(t, tick)
}

// Every walk gives, at each visit, the state of the world, for any number of workers.
func TestReplayer_EveryWalkReachesTheSameStates(t *testing.T) {
	steps := 600
	if testing.Short() {
		steps = 150
	}
	for _, herd := range []bool{false, true} {
		t.Run(fmt.Sprint("herd=", herd), func(t *testing.T) {
			l, want := played(t, herd)
			tail, err := l.Tail(t.Context())
			noError(t, err)
			for _, workers := range []int{1, 3} {
				v := newVisitor(t, l, want, workers)
				for v.start(t, 0); v.next(t); {
					v.rerun(t)
				}
				equal(t, "visits of a straight run", v.visits, 2*len(want.digests)-1)
				for tick, runs := range v.runs {
					if runs > 2 && tick != skipped { // which runs with its input first
						t.Errorf("tick %d runs %d times, want at most 2", tick, runs)
					}
				}
				_, err := v.Entrance(entrance.Key{}).Input(t.Context())
				equal(t, "error of Input at the end", err, io.EOF)
				v.walk(t, rand.New(rand.NewPCG(2, uint64(workers))), tail, steps)
				equal(t, "calls of Applied", len(v.game.seen), 0)
			}
		})
	}
}

func (v *visitor) walk(t *testing.T, random *rand.Rand, tail uint64, steps int) {
	var moments [5]world.Moment
	for range steps {
		m := &moments[random.IntN(len(moments))]
		switch random.IntN(20) {
		case 0:
			v.start(t, random.Uint64N(tail+1))
		case 1, 2:
			noError(t, v.Save(t.Context(), m))
		case 3, 4:
			if m.Bytes() > 0 {
				noError(t, v.Back(t.Context(), m))
				v.check(t, m.Tick())
			}
		case 5:
			v.rerun(t)
		default:
			if !v.next(t) {
				v.start(t, 0)
			}
		}
	}
}

// rerun runs the next tick with the decoded input of the log, and returns to the state before it.
func (v *visitor) rerun(t *testing.T) {
	d := v.Entrance(entrance.Key{})
	calls, err := d.Input(t.Context())
	if err == io.EOF {
		return
	}
	noError(t, err)
	var m world.Moment
	noError(t, v.Save(t.Context(), &m))
	next := v.ticks[m.Tick().Number+1]
	if next.Number == skipped && v.game.herd == nil {
		calls = nil
	}
	noError(t, d.Run(t.Context(), next.Number, next.Seed, next.Time, calls))
	v.check(t, next)
	noError(t, v.Back(t.Context(), &m))
}

// After an error a Replayer has no state until Back or Start.
func TestReplayer_ErrorsNameTheRecord(t *testing.T) {
	ctx := t.Context()
	l, want := played(t, false)
	for name, c := range map[string]struct {
		change func(g *game, o *world.Options)
		rec    func(rec []byte)
		want   error
		text   string
	}{
		"failed tick":     {func(g *game, o *world.Options) { g.fault = func(world.Tick) error { return errGame } }, nil, world.ErrTick, "world: tick 1 (record 2): "},
		"other version":   {func(_ *game, o *world.Options) { o.Version = "other" }, nil, world.ErrVersion, `got "game", want "other"`},
		"other program":   {func(g *game, _ *world.Options) { g.seeded = false }, nil, world.ErrDiverged, "world: after tick 1 (record 3): table \"unit\", shard "},
		"damaged record":  {nil, func(rec []byte) { rec[len(rec)-1] ^= 1 }, world.ErrCorrupt, "world: record 10: "},
		"no world record": {nil, func(rec []byte) { rec[0] = 0 }, world.ErrCorrupt, "world: record 10: "},
	} {
		t.Run(name, func(t *testing.T) {
			g := newPlayed(t, false, 1)
			o := g.options()
			if c.change != nil {
				c.change(g, &o)
			}
			damaged := &faulty{Log: l, read: func(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
				return l.Read(ctx, after, func(at uint64, rec []byte) error {
					if rec = bytes.Clone(rec); at == 10 && c.rec != nil {
						c.rec(rec)
					}
					return each(at, rec)
				})
			}}
			r, err := world.NewReplayer(ctx, g.Store, damaged, o)
			noError(t, err)
			defer r.Close()
			var m world.Moment
			wantError(t, errorOf(r.Next(ctx)), store.ErrPhase)
			wantError(t, r.Save(ctx, &m), store.ErrPhase)
			for range 2 {
				_, err = r.Start(ctx, 8)
				if err == nil {
					noError(t, r.Save(ctx, &m))
				}
				for err == nil {
					_, err = r.Next(ctx)
				}
				wantError(t, err, c.want)
				failIf(t, !strings.Contains(err.Error(), c.text), "got %v, want %q", err, c.text)
				wantError(t, r.Back(ctx, new(world.Moment)), store.ErrCheckpoint)
				wantError(t, errorOf(r.Next(ctx)), c.want)
				if m.Bytes() > 0 {
					noError(t, r.Back(ctx, &m))
					noError(t, r.Save(ctx, &m))
				}
			}
		})
	}
	g := newPlayed(t, false, 1)
	lost := &faulty{Log: l, load: func(context.Context, uint64) (io.ReadCloser, error) { return nil, errLost }}
	unloaded, err := world.NewReplayer(ctx, g.Store, lost, g.options())
	noError(t, err)
	wantError(t, errorOf(unloaded.Start(ctx, 8)), world.ErrCorrupt)
	wantError(t, unloaded.Save(ctx, new(world.Moment)), world.ErrCorrupt)
	unloaded.Close()
	r := newVisitor(t, l, want, 1)
	r.Close()
	wantError(t, errorOf(r.Start(ctx, 0)), store.ErrClosed)
	wantError(t, r.Back(ctx, new(world.Moment)), store.ErrClosed)
}
