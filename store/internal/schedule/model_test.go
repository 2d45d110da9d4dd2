package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const drawnResources = 4

// drawnSystems draws systems, most with conflicts.
func drawnSystems(t *rapid.T) []System {
	list := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, drawnResources-1), func(r int) Resource { return Resource(r) }), 0, 2)
	systems := make([]System, rapid.IntRange(1, 8).Draw(t, "systems"))
	for i := range systems {
		systems[i] = System{
			Name:  fmt.Sprint("s", i),
			Reads: list.Draw(t, "reads"), Writes: list.Draw(t, "writes"), Emits: list.Draw(t, "emits"),
			Run: nothing,
		}
		if rapid.IntRange(0, 3).Draw(t, "after") == 0 {
			systems[i].After = []string{fmt.Sprint("s", rapid.IntRange(0, len(systems)-1).Draw(t, "other"))}
		}
	}
	return systems
}

func (s *System) touches(r Resource) bool {
	return slices.Contains(s.Reads, r) || slices.Contains(s.Writes, r)
}

// wavesApart is a model of conflict: the minimum distance, or -1.
func wavesApart(systems []System, first, second int) int {
	a, b := &systems[first], &systems[second]
	apart := -1
	if slices.Contains(b.After, a.Name) {
		apart = 1
	}
	if first >= second {
		return apart
	}
	for r := range Resource(drawnResources) {
		wrote := slices.Contains(a.Writes, r) && b.touches(r) || a.touches(r) && slices.Contains(b.Writes, r)
		if wrote || slices.Contains(a.Emits, r) && b.touches(r) {
			apart = 1
		}
		if a.touches(r) && slices.Contains(b.Emits, r) {
			apart = max(apart, 0)
		}
	}
	return apart
}

func serially(systems []System) (order []int, ok bool) {
	waits := func(i int) bool {
		for other := range systems {
			if wavesApart(systems, other, i) >= 0 && !slices.Contains(order, other) {
				return true
			}
		}
		return false
	}
	for len(order) < len(systems) {
		next := 0
		for next < len(systems) && (slices.Contains(order, next) || waits(next)) {
			next++
		}
		if next == len(systems) {
			return nil, false
		}
		order = append(order, next)
	}
	return order, true
}

// earliestWaves moves systems until no rule is broken. Emitters to one resource keep serial
// order.
func earliestWaves(systems []System, order []int) (waves []int) {
	waves = make([]int, len(systems))
	for moved := true; moved; {
		moved = false
		for at, second := range order {
			for _, first := range order[:at] {
				apart := wavesApart(systems, first, second)
				if slices.ContainsFunc(systems[first].Emits, func(r Resource) bool { return slices.Contains(systems[second].Emits, r) }) {
					apart = max(apart, 0)
				}
				if apart >= 0 && waves[second] < waves[first]+apart {
					waves[second], moved = waves[first]+apart, true
				}
			}
		}
	}
	return waves
}

func TestWaves_AreTheEarliestPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems := drawnSystems(t)
		order, possible := serially(systems)
		s, err := numbered(systems...)
		if possible != (err == nil) || possible && !slices.Equal(s.Order(), order) {
			t.Fatalf("the error is %v; the serial order is %v", err, order)
		}
		if !possible {
			return
		}
		if want := earliestWaves(systems, order); !slices.Equal(s.wave, want) {
			t.Fatalf("waves %v, want %v", s.wave, want)
		}
		again, _ := numbered(systems...)
		if again.Explain() != s.Explain() {
			t.Fatal("two plans for the same systems differ")
		}
		for i := range systems {
			if (s.wave[i] > 0) != (len(s.binding(i)) > 0) {
				t.Fatalf("s%d is in wave %d, for these reasons: %v", i, s.wave[i], s.binding(i))
			}
		}
	})
}

type world struct {
	happened [drawnResources][]int // by resource: systems that wrote or emitted, in order
	pending  [][]Resource          // by system: recorded emits
	seen     [][drawnResources][]int
}

func newWorld(systems int) *world {
	return &world{pending: make([][]Resource, systems), seen: make([][drawnResources][]int, systems)}
}

func (w *world) run(s *System, i int) {
	for r := range Resource(drawnResources) {
		if s.touches(r) {
			w.seen[i][r] = slices.Clone(w.happened[r])
		}
		if slices.Contains(s.Writes, r) {
			w.happened[r] = append(w.happened[r], i)
		}
		if slices.Contains(s.Emits, r) {
			w.pending[i] = append(w.pending[i], r)
		}
	}
}

func (w *world) flush(order []int) {
	for _, i := range order {
		for _, r := range w.pending[i] {
			w.happened[r] = append(w.happened[r], i)
		}
		w.pending[i] = nil
	}
}

// oneByOne flushes after each system.
func oneByOne(systems []System, order []int) *world {
	w := newWorld(len(systems))
	for _, i := range order {
		w.run(&systems[i], i)
		w.flush(order)
	}
	return w
}

func TestRun_SameAsOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems := drawnSystems(t)
		var w *world
		for i := range systems {
			drawn := systems[i]
			systems[i].Run = func(context.Context) error {
				w.run(&drawn, i)
				return nil
			}
		}
		s, err := numbered(systems...)
		if err != nil {
			t.Skip("not possible")
		}
		want := oneByOne(systems, s.Order())
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, f := range []Run{{Workers: 1}, {Workers: 1, Shuffle: random.Perm}, {Workers: 3, Shuffle: random.Perm}} {
			w = newWorld(len(systems))
			f.Flush = func(context.Context, []Resource) error {
				w.flush(s.Order())
				return nil
			}
			noError(t, s.Run(context.Background(), f))
			for i, pending := range w.pending {
				if len(pending) > 0 {
					t.Fatalf("commands of s%d are not flushed", i)
				}
			}
			if fmt.Sprint(w) != fmt.Sprint(want) {
				t.Fatalf("with %d workers:\n%v\none by one:\n%v\n%s", f.Workers, w, want, s.Explain())
			}
		}
	})
}

func TestEnd_OncePerFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems := drawnSystems(t)
		flushes, ended := 0, -1
		before := make([]int, len(systems)) // flushes before each system
		for i := range systems {
			systems[i].Run = func(context.Context) error { before[i] = flushes; return nil }
		}
		s, err := numbered(systems...)
		if err != nil {
			t.Skip("not possible")
		}
		touched := slices.ContainsFunc(systems, func(y System) bool { return y.touches(0) })
		if got := s.End(0); got != touched {
			t.Fatalf("End: got %t, want %t", got, touched)
		}
		noError(t, s.Run(context.Background(), Run{Workers: 1, Flush: func(_ context.Context, ends []Resource) error {
			flushes++
			if len(ends) > 0 {
				if ended >= 0 {
					t.Fatal("two flushes end the resource")
				}
				ended = flushes
			}
			return nil
		}}))
		want := -1
		for i, y := range systems {
			switch {
			case y.touches(0):
				want = max(want, before[i]+1)
			case !touched && slices.Contains(y.Emits, 0) && (want < 0 || before[i]+1 < want):
				want = before[i] + 1
			}
		}
		if ended != want {
			t.Fatalf("flush %d ends the resource, want %d\n%s", ended, want, s.Explain())
		}
	})
}
