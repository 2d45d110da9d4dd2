package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type game struct {
	*store.Store
	units  *store.Table[unit]
	camps  *store.StableTable[camp]
	orders *store.Table[order]
	hits   *store.Table[hit]

	herd   *kit.Game // if not nil, replaces the tables above
	seeded bool      // ticks use Seed and Time
	fault  func(t world.Tick) error

	mutex   sync.Mutex
	digests map[uint64]uint64 // by tick
	open    map[uint64]bool   // ticks that were unrecorded, which may run again
	seen    []world.Outcome
}

type unit struct {
	Hull int
	Pos  uint64
	Foe  store.Handle[unit]
	Camp store.Handle[camp]
	Name string
}

type camp struct{ Units, Born int }

// maxOrders is the number of calls with an order that fit in a tick.
const maxOrders = 8

type order struct {
	Camp store.Handle[camp]
	Name string
	Hull int
	Kill bool
}

type hit struct {
	On     store.Handle[unit]
	Damage int
}

func newGame(t testing.TB, o store.Options) *game {
	t.Helper()
	o.Seed = 42 // for the random numbers of passes
	s := store.New(o)
	g := &game{Store: s, digests: make(map[uint64]uint64), open: make(map[uint64]bool)}
	g.units = store.Register(s, store.TableOptions[unit]{Name: "unit", Shards: 3, ChunkItems: 4, Changes: true})
	g.camps = store.RegisterStable(s, store.TableOptions[camp]{Name: "camp"})
	g.orders = store.Register(s, store.TableOptions[order]{Name: "order", MaxItems: maxOrders})
	g.hits = store.Register(s, store.TableOptions[hit]{Name: "hit", Shards: 2, ChunkItems: 4})
	return g
}

func newHerd(t testing.TB, o store.Options) *game {
	t.Helper()
	h := kit.New(o.Workers, 0)
	return &game{Store: h.Store, herd: h, digests: make(map[uint64]uint64), open: make(map[uint64]bool)}
}

func (g *game) options() world.Options {
	o := world.Options{
		Version: "game", Hz: 60, Idle: 1, Init: g.init, Tick: g.tick, Applied: g.applied, SnapshotTicks: 7, DigestTicks: 5,
	}
	if g.herd != nil {
		o.Init = g.herd.Init
		o.Tick = func(ctx context.Context, w *store.Writer, t world.Tick) error {
			t.Seed = t.Number * 0x9e3779b97f4a7c15 // the same on each log
			return g.herd.Tick(ctx, w, t)
		}
	}
	return o
}

func (g *game) init(_ context.Context, w *store.Writer) error {
	home := g.camps.Insert(w, camp{Units: 8})
	for i := range 8 {
		g.units.Insert(w, unit{Hull: 3 + i, Pos: uint64(i * 7), Camp: home, Name: fmt.Sprint("u", i)})
	}
	return nil
}

func (g *game) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	if _, err := g.Flush(ctx); err != nil {
		return err
	}
	salt := t.Number
	if g.seeded {
		salt = t.Seed ^ uint64(t.Time.UnixNano())
	}
	if err := g.obey(ctx); err != nil {
		return err
	}
	if err := g.live(ctx, salt); err != nil {
		return err
	}
	if g.fault != nil {
		if err := g.fault(t); err != nil {
			return err
		}
	}
	if _, err := g.Flush(ctx); err != nil {
		return err
	}
	for _, h := range g.hits.All() {
		if u, ok := g.units.Get(h.On); ok {
			u.Hull -= h.Damage
		}
	}
	g.hits.Clear(w)
	g.orders.Clear(w)
	return nil
}

// obey executes the orders.
func (g *game) obey(ctx context.Context) error {
	for _, o := range g.orders.All() {
		if c, ok := g.camps.Get(o.Camp); ok {
			c.Born++
		}
	}
	return g.Do(ctx, func(q store.Queue) {
		for _, o := range g.orders.All() {
			if o.Kill {
				g.camps.Erase(q, o.Camp)
				continue
			}
			g.units.Emplace(q, unit{Hull: o.Hull, Camp: o.Camp, Name: o.Name})
		}
	})
}

func (g *game) live(ctx context.Context, salt uint64) error {
	return g.units.ForEach(ctx, func(c store.Chunk[unit]) {
		random := c.Queue.Rand()
		for i := range c.Items {
			u, h := &c.Items[i], c.Handle(i)
			u.Pos = (u.Pos+salt+uint64(h.ID)+random.Uint64())*0x9e3779b97f4a7c15 ^ u.Pos>>29
			switch {
			case u.Hull <= 0:
				c.Erase(i)
			case u.Pos%11 == 0 && len(u.Name) < 12 && g.units.Len() < 60:
				p := g.units.Emplace(c.Queue, unit{Hull: 1 + int(u.Pos>>7%5), Pos: u.Pos >> 3, Foe: h, Camp: u.Camp, Name: u.Name + "'"})
				g.units.Emplace(c.Queue, unit{Hull: 2, Pos: u.Pos >> 5, Foe: p})
			case u.Pos%3 == 0:
				g.hits.Emplace(c.Queue, hit{On: u.Foe, Damage: 1})
			}
		}
	})
}

// applied records the digest after each tick. Every run of a tick must have the same one.
func (g *game) applied(ctx context.Context, o world.Outcome) {
	d, err := g.Digest(ctx)
	if err != nil {
		panic(err)
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if was, ok := g.digests[o.Number]; ok && was != d && !g.open[o.Number] {
		panic(fmt.Sprintf("tick %d came to two states", o.Number))
	}
	g.digests[o.Number], g.open[o.Number] = d, o.Unrecorded
	g.seen = append(g.seen, o)
}

// order returns the n-th call of Submit.
func (g *game) order(n int) func(q store.Queue) error {
	if g.herd != nil {
		return g.herd.Leave(uint64(n))
	}
	return func(q store.Queue) error {
		p := g.camps.Emplace(q, camp{Born: n})
		g.orders.Emplace(q, order{Camp: p, Name: fmt.Sprint("by ", n), Hull: 1 + n%4, Kill: n%5 == 4})
		if n%3 == 0 {
			g.units.Emplace(q, unit{Hull: 2, Pos: uint64(n), Camp: p})
		}
		return nil
	}
}

func wantSame(t testing.TB, a, b *game) {
	t.Helper()
	if a == b {
		return
	}
	a.mutex.Lock()
	defer a.mutex.Unlock()
	b.mutex.Lock()
	defer b.mutex.Unlock()
	for tick, d := range a.digests {
		if other, ok := b.digests[tick]; ok && other != d {
			t.Fatalf("behind tick %d the states differ", tick)
		}
	}
}

func wantTicks(t testing.TB, g *game, n int) {
	t.Helper()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for tick := 1; tick <= n; tick++ {
		if _, ok := g.digests[uint64(tick)]; !ok {
			t.Fatalf("tick %d was not applied; %d were", tick, len(g.digests))
		}
	}
	equal(t, "applied ticks", len(g.digests), n)
}

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func failIf(t testing.TB, failed bool, format string, args ...any) {
	t.Helper()
	if failed {
		t.Errorf(format, args...)
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld opens a world on a new game.
func newWorld(t testing.TB, s store.Options, l world.Log, change ...func(o *world.Options)) (*game, *world.World) {
	t.Helper()
	g := newGame(t, s)
	return g, mustOpen(t, g, l, change...)
}

func mustOpen(t testing.TB, g *game, l world.Log, change ...func(o *world.Options)) *world.World {
	t.Helper()
	o := g.options()
	for _, c := range change {
		c(&o)
	}
	w, err := world.Open(t.Context(), g.Store, l, o)
	noError(t, err)
	return w
}

func mustStep(t testing.TB, w *world.World) world.Tick {
	t.Helper()
	tick, err := w.Step(t.Context())
	noError(t, err)
	return tick
}

func steps(t testing.TB, w *world.World, n int) {
	t.Helper()
	for range n {
		mustStep(t, w)
	}
}

func stepEach(t testing.TB, worlds ...*world.World) {
	t.Helper()
	for _, w := range worlds {
		mustStep(t, w)
	}
}

func stepsSaving(t testing.TB, w *world.World, n int) {
	t.Helper()
	for range n {
		mustStep(t, w)
		synctest.Wait()
	}
}

func mustClose(t testing.TB, worlds ...*world.World) {
	t.Helper()
	for _, w := range worlds {
		noError(t, w.Close(context.Background()))
	}
}

func snapshotsOf(t testing.TB, l world.Log) []uint64 {
	t.Helper()
	at, err := l.Snapshots(t.Context())
	noError(t, err)
	return at
}

// crash closes worlds without the snapshots that Close saves. Close waits a second for a tick, an
// append or a snapshot; crash waits for its end.
func crash(t testing.TB, worlds ...*world.World) {
	t.Helper()
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	for _, w := range worlds {
		err := w.Close(ended)
		if errors.Is(err, context.Canceled) {
			err = w.Close(context.Background())
		}
		if !errors.Is(err, store.ErrUncertain) { // of an append
			noError(t, err)
		}
	}
}

// An outcome is the end of a call in another goroutine.
type outcome[R any] struct {
	result R
	err    error
	done   bool
}

// aside makes a call in another goroutine, and waits until it is done or blocked.
func aside[R any](call func() (R, error)) *outcome[R] {
	o := new(outcome[R])
	go func() {
		o.result, o.err = call()
		o.done = true
	}()
	synctest.Wait()
	return o
}

type submission = outcome[*store.Receipt]

func submit(ctx context.Context, w *world.World, fn func(q store.Queue) error) *submission {
	return aside(func() (*store.Receipt, error) { return w.Submit(ctx, fn) })
}

func wantApplied(t *testing.T, s *submission, tick uint64) {
	t.Helper()
	if !s.done || s.err != nil || s.result.Tick() != tick {
		t.Fatalf("Submit: done %t, %v, want tick %d", s.done, s.err, tick)
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func inBubble(t *testing.T, name string, fn func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, fn) })
}

// A faulty log calls a function, if it is not nil, in place of a method.
type faulty struct {
	world.Log
	append func(ctx context.Context, prev uint64, rec []byte) (uint64, error)
	read   func(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error
	tail   func(ctx context.Context) (uint64, error)
	save   saveFunc
	saved  func(ctx context.Context) ([]uint64, error)
	load   func(ctx context.Context, at uint64) (io.ReadCloser, error)
	trim   func(ctx context.Context, through uint64) error
}

type saveFunc func(ctx context.Context, at uint64, write func(io.Writer) error) error

func or[F any](f, instead F) F {
	if reflect.ValueOf(f).IsZero() {
		return instead
	}
	return f
}

func (f *faulty) Append(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	return or(f.append, f.Log.Append)(ctx, prev, rec)
}

func (f *faulty) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	return or(f.read, f.Log.Read)(ctx, after, each)
}

func (f *faulty) Tail(ctx context.Context) (uint64, error) { return or(f.tail, f.Log.Tail)(ctx) }

func (f *faulty) Save(ctx context.Context, at uint64, write func(w io.Writer) error) error {
	return or(f.save, f.Log.Save)(ctx, at, write)
}

func (f *faulty) Snapshots(ctx context.Context) ([]uint64, error) {
	return or(f.saved, f.Log.Snapshots)(ctx)
}

func (f *faulty) Load(ctx context.Context, at uint64) (io.ReadCloser, error) {
	return or(f.load, f.Log.Load)(ctx, at)
}

func (f *faulty) Trim(ctx context.Context, through uint64) error {
	return or(f.trim, f.Log.Trim)(ctx, through)
}

func errorOf(_ any, err error) error { return err }

func wantError(t testing.TB, err error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(err, want) {
			t.Errorf("got error %v, want %v", err, want)
		}
	}
}
