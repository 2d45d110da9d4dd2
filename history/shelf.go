package history

import (
	"cmp"
	"context"
	"slices"

	"handloom/world"
)

// A shelf has the checkpoints of a player: a grid at the multiples of a distance, and a ladder
// before the tick of the last seek. Their number times the bytes of the largest one is at most the
// limit.
type shelf struct {
	limit    int64
	ticks    uint64 // of the span
	each     int64  // bytes of the largest moment
	distance uint64
	grid     []*moment // ascending
	rungs    []*moment // ascending
	free     []*moment
}

type moment struct {
	tick  uint64
	state world.Moment
}

const (
	minDistance = 16 // ticks
	maxRungs    = 16
)

// room returns the number of moments of the ladder and of the grid. A single moment is a rung: a
// step back is the most frequent seek, and the grid can be played.
func (s *shelf) room() (rungs, grid int) {
	all := int(min(s.limit/max(s.each, 1), 1<<30))
	rungs = min((all+3)/4, maxRungs)
	return rungs, all - rungs
}

// fit adapts the distance to the bytes of a checkpoint of the present state.
func (s *shelf) fit(p *player) {
	bytes := int64(0)
	for _, t := range p.store.Stats() {
		bytes += t.Bytes
	}
	s.grow(bytes)
}

// grow notes the bytes of a moment, and drops moments for which there is no room. All moments count
// as the largest one, because a moment that is used again keeps its memory.
func (s *shelf) grow(bytes int64) {
	if bytes <= s.each && s.distance > 0 {
		return
	}
	s.each, s.distance = max(s.each, bytes), max(s.distance, minDistance)
	rungs, grid := s.room()
	for grid > 0 && s.ticks/s.distance+1 > uint64(grid) {
		// A multiple of the old distance keeps moments that exist; with none, any distance will do.
		if len(s.grid) > 1 {
			s.distance *= 2 // keeps each second moment
		} else {
			s.distance = s.ticks/uint64(grid) + 1
		}
	}
	s.thin()
	for len(s.rungs) > rungs {
		s.rungs = s.release(s.rungs, 0)
	}
	// A free moment keeps the memory of its largest state, so free ones count.
	kept := min(len(s.free), max(0, rungs+grid-len(s.grid)-len(s.rungs)))
	s.free = slices.Delete(s.free, kept, len(s.free))
}

// thin releases the moments of the grid that are at no multiple of the distance.
func (s *shelf) thin() {
	s.grid = slices.DeleteFunc(s.grid, func(m *moment) bool {
		if m.tick%s.distance == 0 {
			return false
		}
		s.free = append(s.free, m)
		return true
	})
}

func (s *shelf) release(from []*moment, i int) []*moment {
	s.free = append(s.free, from[i])
	return slices.Delete(from, i, i+1)
}

// nearest returns the newest moment at or before a tick, or nil.
func (s *shelf) nearest(tick uint64) (m *moment) {
	for _, list := range [][]*moment{s.grid, s.rungs} {
		i, found := find(list, tick)
		if !found {
			i--
		}
		if i >= 0 && (m == nil || list[i].tick > m.tick) {
			m = list[i]
		}
	}
	return m
}

func find(list []*moment, tick uint64) (int, bool) {
	return slices.BinarySearchFunc(list, tick, func(m *moment, tick uint64) int { return cmp.Compare(m.tick, tick) })
}

// ladder releases the rungs after a tick, and returns the ticks of the rungs before it: at
// distances 1, n, n*n, ... for the least n from 2 with which they reach the grid.
func (s *shelf) ladder(tick uint64) (at []uint64) {
	for len(s.rungs) > 0 && s.rungs[len(s.rungs)-1].tick > tick {
		s.rungs = s.release(s.rungs, len(s.rungs)-1)
	}
	rungs, _ := s.room()
	for n := uint64(2); rungs > 0; n++ {
		at = at[:0]
		step := uint64(1)
		for ; len(at) < rungs && step < s.distance && step <= tick; step *= n {
			at = append(at, tick-step)
		}
		if step >= s.distance || step > tick {
			break
		}
	}
	return at
}

// keep saves the state of p if its tick is a multiple of the distance, or one of rungs.
func (s *shelf) keep(ctx context.Context, p *player, rungs []uint64) error {
	tick := p.tick.Number
	forRungs, forGrid := s.room()
	// A tick of the grid is never a rung, so no state is saved twice.
	list, most := &s.grid, forGrid
	if tick%s.distance != 0 {
		if !slices.Contains(rungs, tick) {
			return nil
		}
		list, most = &s.rungs, forRungs
	}
	i, found := find(*list, tick)
	if found || most == 0 {
		return nil
	}
	if len(*list) >= most { // only of rungs: the oldest is the farthest
		*list, i = s.release(*list, 0), max(i-1, 0)
	}
	m := s.take()
	m.tick = tick
	if err := p.Save(ctx, &m.state); err != nil {
		return err
	}
	*list = slices.Insert(*list, i, m)
	// Only now the bytes are known. They may leave room for fewer moments.
	s.grow(m.state.Bytes())
	return nil
}

func (s *shelf) take() *moment {
	if n := len(s.free); n > 0 {
		m := s.free[n-1]
		s.free = slices.Delete(s.free, n-1, n)
		return m
	}
	return new(moment)
}
