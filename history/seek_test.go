package history

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// Seeks play few ticks: first from the nearest snapshot, then, with one snapshot, from checkpoints.
func TestSeek_PlaysFewTicks(t *testing.T) {
	ticks := 600
	if testing.Short() {
		ticks = 200
	}
	r := record(t, ticks, true, same)
	played := func(o Options, seeks func(h *History, first uint64)) uint64 {
		h := mustOpen(t, r.dir, replay(same, nil), o)
		before := h.played.Load()
		seeks(h, h.Ranges()[0].First)
		return h.played.Load() - before
	}
	if n := played(Options{}, func(h *History, _ uint64) { r.wantState(t, h, r.last) }); n != 0 {
		t.Errorf("got %d ticks played to the tick of a snapshot, want 0", n)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "*.snap"))
	noError(t, err)
	for _, file := range files[1:] {
		noError(t, os.Remove(file))
	}
	for memory, most := range map[int64]uint64{0: 3, 1 << 20: 8} { // room for all, and for 10 checkpoints
		n := played(Options{Memory: memory}, func(h *History, first uint64) {
			for tick := r.last; tick > first; tick-- {
				r.wantState(t, h, tick)
			}
		})
		if n > most*r.last {
			t.Errorf("memory %d: got %d ticks played by %d steps back, want at most %d each", memory, n, r.last, most)
		}
	}
}

// A folder that a world writes is read up to its last record at Open.
func TestOpen_ReadsAFolderThatIsWritten(t *testing.T) {
	m := newMatch(t, plant{})
	m.SegmentBytes, m.snapshots = 1<<12, 20
	w, a, kill := m.open(t)
	defer kill()
	digests := map[uint64]uint64{}
	play := func() {
		for range 50 {
			tick, err := w.Step(t.Context())
			noError(t, err)
			digests[tick.Number], err = a.Digest(t.Context())
			noError(t, err)
		}
	}
	play()
	h := mustOpen(t, m.dir, m.game(), Options{Memory: 1})
	seen := h.Ranges()[0].Last
	if n := h.played.Load(); n != 4*3 {
		t.Errorf("Open: got %d ticks played, want 3 ticks 4 times", n)
	}
	play()
	for _, tick := range []uint64{seen, seen / 2, 1} {
		s, _, err := h.Seek(t.Context(), tick)
		noError(t, err)
		if d, err := s.Digest(t.Context()); err != nil || d != digests[tick] || seen != 50 {
			t.Errorf("digest after tick %d of %d: %x, %v, want %x of 50", tick, seen, d, err, digests[tick])
		}
	}
}
