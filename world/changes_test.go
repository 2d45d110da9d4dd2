package world_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	kit "handloom/proof/game"
	"handloom/world"
)

// A herd is a program whose ticks read lists of changes, columns and optional data.
type herd struct {
	*kit.Game
	digests map[uint64]uint64 // by tick
}

func newHerd(t testing.TB, workers int) *herd {
	t.Helper()
	h, err := kit.New(workers, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &herd{h, make(map[uint64]uint64)}
}

func (h *herd) options() world.Options {
	return world.Options{
		Program: "herd", Init: h.Init, Tick: h.Tick, SnapshotTicks: 7, DigestTicks: 3,
		Applied: func(ctx context.Context, o world.Outcome) {
			d, err := h.Digest(ctx)
			if err != nil {
				panic(err)
			}
			h.digests[o.Number] = d
		},
	}
}

func openHerd(t testing.TB, h *herd, l world.Log) *world.World {
	t.Helper()
	w, err := world.Open(t.Context(), h.Store, l, h.options())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// live steps an owner n ticks, with a call in each, and waits for its snapshots.
func (h *herd) live(t *testing.T, w *world.World, n int) {
	t.Helper()
	for range n {
		if !w.Status().Owner { // before its term begins
			steps(t, w, 1)
			continue
		}
		s := submit(t.Context(), w, h.Leave(w.Status().Tick+1))
		steps(t, w, 1)
		synctest.Wait()
		if s.err != nil {
			t.Fatal(s.err)
		}
	}
}

// wantHerd fails the test unless both herds had the same states, after n ticks at least.
func wantHerd(t *testing.T, a, b *herd, n int) {
	t.Helper()
	both := 0
	for tick, d := range a.digests {
		if other, ok := b.digests[tick]; ok {
			if both++; d != other {
				t.Fatalf("tick %d has two states", tick)
			}
		}
	}
	if both < n {
		t.Errorf("%d ticks have two digests, want %d", both, n)
	}
	if a.Entries() < 100 {
		t.Errorf("ticks have read %d changes, want 100", a.Entries())
	}
}

// Ticks that read lists of changes, columns and optional data lead to one state, wherever
// and from whatever snapshot they are run.
func TestWorld_TicksMayReadChanges(t *testing.T) {
	for name, f := range map[string]func(t *testing.T, workers int){
		"reopen": reopenHerd, "replay": replayHerd, "follow": followHerd, "takeover": takeOverHerd, "shadow": shadowHerd,
	} {
		for _, workers := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { f(t, workers) })
			})
		}
	}
}

// reopenHerd ends the world after each number of ticks since its snapshot, with a snapshot
// and without one.
func reopenHerd(t *testing.T, workers int) {
	l := world.Memory()
	first := newHerd(t, workers)
	w := openHerd(t, first, l)
	last := first
	for n := range 16 {
		last.live(t, w, 1+n%9)
		if n%4 == 0 {
			mustClose(t, w)
		} else {
			crash(t, w)
		}
		next := newHerd(t, 1)
		w = openHerd(t, next, l)
		wantHerd(t, last, next, 0)
		if a, b := herdDigest(t, last), herdDigest(t, next); a != b {
			t.Fatalf("opened again after tick %d: another state", w.Status().Tick)
		}
		last = next
	}
	mustClose(t, w)
}

func herdDigest(t *testing.T, h *herd) uint64 {
	t.Helper()
	d, err := h.Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func replayHerd(t *testing.T, workers int) {
	l := keeping{world.Memory()}
	h := newHerd(t, workers)
	w := openHerd(t, h, l)
	h.live(t, w, 40)
	crash(t, w)
	for _, upTo := range []uint64{30, 35, 36, 40} {
		again := newHerd(t, 2)
		if err := world.Replay(t.Context(), again.Store, l, again.options(), upTo); err != nil {
			t.Fatal(err)
		}
		wantHerd(t, h, again, 0)
		if d := herdDigest(t, again); d != h.digests[upTo] {
			t.Errorf("Replay to tick %d: another state", upTo)
		}
	}
}

func followHerd(t *testing.T, workers int) {
	l := world.Memory()
	h, early, late := newHerd(t, workers), newHerd(t, 1), newHerd(t, 2)
	w, v := openHerd(t, h, l), openHerd(t, early, l)
	var u *world.World // from a snapshot
	for n := range 40 {
		h.live(t, w, 1)
		steps(t, v, 1)
		if n == 18 {
			u = openHerd(t, late, l)
		} else if u != nil {
			steps(t, u, 1)
		}
	}
	wantHerd(t, h, early, 40)
	wantHerd(t, h, late, 20)
	for _, w := range []*world.World{u, v, w} {
		mustClose(t, w)
	}
}

func takeOverHerd(t *testing.T, workers int) {
	l := world.Memory()
	a, b, c := newHerd(t, workers), newHerd(t, 1), newHerd(t, 2)
	w, v := openHerd(t, a, l), openHerd(t, b, l)
	for range 10 {
		a.live(t, w, 1)
		steps(t, v, 1)
	}
	crash(t, w)
	steps(t, v, 1) // after the silence
	b.live(t, v, 10)
	u := openHerd(t, c, l) // from a snapshot of either
	steps(t, v, 1)
	steps(t, u, 1)
	crash(t, v)
	steps(t, u, 1)
	c.live(t, u, 10)
	wantHerd(t, a, b, 10)
	wantHerd(t, b, c, 1)
	mustClose(t, u)
	if s := u.Status(); s.Term != 3 || s.Tick != 33 {
		t.Errorf("%v", s)
	}
}

// shadowHerd runs each tick of the owner twice.
func shadowHerd(t *testing.T, workers int) {
	l := world.Memory()
	h, again := newHerd(t, workers), newHerd(t, 1)
	o := h.options()
	o.Shadow = 1
	w, err := world.Open(t.Context(), h.Store, l, o)
	if err != nil {
		t.Fatal(err)
	}
	h.live(t, w, 20)
	crash(t, w)
	v := openHerd(t, again, l)
	wantHerd(t, h, again, 1)
	if herdDigest(t, h) != herdDigest(t, again) {
		t.Error("opened again: another state")
	}
	mustClose(t, v)
}
