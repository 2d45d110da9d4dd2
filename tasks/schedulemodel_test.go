package tasks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const drawnResources = 4

// drawnSystems are up to eight systems that touch a few resources, so that most
// of them are in each other's way.
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

// wavesApart is the distance between the waves of two systems that the rules
// demand, or -1 if they demand nothing. It says again what conflict says.
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

// earliestWaves computes waves by moving systems until nothing has to move, or
// reports that this never ends.
func earliestWaves(systems []System) (waves []int, ok bool) {
	waves = make([]int, len(systems))
	for range len(systems) + 1 {
		moved := false
		for first := range systems {
			for second := range systems {
				if apart := wavesApart(systems, first, second); apart >= 0 && waves[second] < waves[first]+apart {
					waves[second], moved = waves[first]+apart, true
				}
			}
		}
		if !moved {
			return waves, true
		}
	}
	return nil, false
}

func TestEverySystemIsInTheEarliestWaveThatTheRulesAllow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems := drawnSystems(t)
		want, possible := earliestWaves(systems)
		s, err := NewSchedule(systems...)
		if possible != (err == nil) || possible && !slices.Equal(s.wave, want) {
			t.Fatalf("waves %v, error %v; want %v", s.wave, err, want)
		}
		if !possible {
			return
		}
		again, _ := NewSchedule(systems...)
		if again.Explain() != s.Explain() || again.DOT() != s.DOT() {
			t.Fatal("two plans for the same systems differ")
		}
		for i := range systems {
			if (s.wave[i] > 0) != (len(s.binding(i)) > 0) {
				t.Fatalf("s%d is in wave %d, for these reasons: %v", i, s.wave[i], s.binding(i))
			}
		}
	})
}

// world is what systems leave behind: by resource, who wrote it or emitted to
// it. Nothing protects it but the schedule, and the race detector watches.
type world struct {
	happened [drawnResources][]int
	pending  [][]Resource // by system: what it recorded
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

// oneByOne runs the systems in serial order and flushes before each that looks
// at what is pending.
func oneByOne(systems []System, order []int) *world {
	w := newWorld(len(systems))
	for at, i := range order {
		for _, j := range order[:at] {
			if slices.ContainsFunc(w.pending[j], systems[i].touches) {
				w.flush(order)
			}
		}
		w.run(&systems[i], i)
	}
	w.flush(order)
	return w
}

// Commands of different systems to one resource are applied in serial order
// within a flush; but a system that could run before an earlier flush has its
// commands applied there, so order is left out.
func (w *world) sort() {
	for r := range w.happened {
		slices.Sort(w.happened[r])
	}
	for i := range w.seen {
		for r := range w.seen[i] {
			slices.Sort(w.seen[i][r])
		}
	}
}

func TestEverySystemSeesWhatItWouldSeeIfTheyRanOneByOne(t *testing.T) {
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
		s, err := NewSchedule(systems...)
		if err != nil {
			t.Skip("not possible")
		}
		want := oneByOne(systems, s.Order())
		want.sort()
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for _, f := range []Frame{{Workers: 1}, {Workers: 1, Shuffle: random.Perm}, {Workers: 3, Shuffle: random.Perm}} {
			w = newWorld(len(systems))
			f.Flush = func(context.Context) error {
				w.flush(s.Order())
				return nil
			}
			if err := s.Run(context.Background(), f); err != nil {
				t.Fatal(err)
			}
			for i := range w.pending {
				if len(w.pending[i]) > 0 {
					t.Fatalf("what s%d recorded was not flushed", i)
				}
			}
			w.sort()
			if fmt.Sprint(w) != fmt.Sprint(want) {
				t.Fatalf("with %d workers:\n%v\none by one:\n%v\n%s", f.Workers, w, want, s.Explain())
			}
		}
	})
}
