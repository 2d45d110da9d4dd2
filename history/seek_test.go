package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Any order of seeks gives the states of the world, for any memory.
func TestSeek_ReachesTheStatesOfTheWorld(t *testing.T) {
	ticks, seeks := 200, 150
	if testing.Short() {
		ticks, seeks = 70, 20
	}
	r := record(t, ticks, true, same)
	for _, memory := range []int64{1, 200 << 10, 1 << 30} {
		t.Run(fmt.Sprint("memory=", memory), func(t *testing.T) {
			h := mustOpen(t, r.dir, replay(same, nil), Options{Memory: memory})
			random := rand.New(rand.NewPCG(1, uint64(memory)))
			tick := r.last
			for range seeks {
				switch random.IntN(4) {
				case 0:
					tick = random.Uint64N(r.last + 1)
				case 1:
					tick = min(tick+1, r.last)
				default:
					tick = max(tick, 1) - 1
				}
				r.wantState(t, h, tick)
				h.shelf.verify(t)
			}
		})
	}
}

// verify compares the memory of the moments with the limit, and the arrays for dropped moments.
func (s *shelf) verify(t testing.TB) {
	t.Helper()
	bytes := int64(0)
	for _, list := range [][]*moment{s.grid, s.rungs, s.free} {
		for _, m := range list {
			bytes += m.state.Bytes()
		}
		if slices.ContainsFunc(list[len(list):cap(list)], func(m *moment) bool { return m != nil }) {
			t.Fatal("an array keeps moments that were dropped")
		}
	}
	if bytes > s.limit {
		t.Fatalf("%d, %d and %d moments have %d bytes, want at most %d", len(s.grid), len(s.rungs), len(s.free), bytes, s.limit)
	}
}

// The distance is the least for which the checkpoints fit. It doubles once there are some, so that
// each second one stays.
func TestShelf_UsesItsMemory(t *testing.T) {
	s := shelf{limit: 100 << 20, ticks: 72_000}
	s.grow(1 << 20)
	if _, grid := s.room(); s.ticks/s.distance+1 > uint64(grid) || s.ticks/(s.distance-1)+1 <= uint64(grid) {
		t.Errorf("got a distance of %d ticks for %d checkpoints of %d ticks", s.distance, grid, s.ticks)
	}
	first := s.distance
	for tick := uint64(0); tick <= s.ticks; tick += first {
		s.grid = append(s.grid, &moment{tick: tick})
	}
	before := len(s.grid)
	s.grow(3 << 19)
	if s.distance != 2*first || len(s.grid) != (before+1)/2 {
		t.Errorf("half as many more bytes: got a distance of %d ticks and %d checkpoints, want %d and %d", s.distance, len(s.grid), 2*first, (before+1)/2)
	}
}
