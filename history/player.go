package history

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"handloom/internal/entrance"
	"handloom/store"
	"handloom/world"
)

// A player plays the ticks of a span in a store of its own.
type player struct {
	*world.Replayer
	span   *span
	store  *store.Store
	checks Checks
	tick   world.Tick // of the state
	played *atomic.Uint64
	lost   bool // there is no state
}

func (h *History) newPlayer(ctx context.Context, sp *span, workers int) (*player, error) {
	s, o, checks, err := h.game.New(workers)
	if err != nil {
		return nil, fmt.Errorf("history: Game.New: %w", err)
	}
	if h.o.Any {
		// The Replayer refuses other versions, and other architectures unless it is portable.
		o.Version, o.Portable = sp.Version, true
	}
	r, err := world.NewReplayer(ctx, s, h.log, o)
	if err != nil {
		return nil, err
	}
	if h.unchecked {
		r.Entrance(entrance.Key{}).SkipDigests()
	}
	// Until start or back there is no state.
	return &player{Replayer: r, span: sp, store: s, checks: checks, played: &h.played, lost: true}, nil
}

// start restores the snapshot of a record, or an older one if that is damaged.
func (p *player) start(ctx context.Context, at uint64) (err error) {
	p.tick, err = p.Start(ctx, at)
	p.lost = err != nil
	return err
}

func (p *player) back(ctx context.Context, m *moment) error {
	err := p.Back(ctx, &m.state)
	p.tick, p.lost = m.state.Tick(), err != nil // a Rollback that fails leaves no state
	return err
}

// next plays the next tick.
func (p *player) next(ctx context.Context) error {
	tick, err := p.Next(ctx)
	if err == nil {
		p.tick = tick
		p.played.Add(1)
		return nil
	}
	p.lost = true // the tick may have changed a part of the state
	if err == io.EOF {
		err = fmt.Errorf("history: tick %d: %w, nearest %d", p.tick.Number+1, ErrRange, p.tick.Number)
	}
	return err
}

// spanOf returns the first span of a tick that can be played. A span that also has tick to comes
// before others.
func (h *History) spanOf(tick, to uint64) (*span, error) {
	var found, other *span
	var gap error // the reason why the last span before the tick ends
	var nearest *uint64
	for i := range h.spans {
		sp := &h.spans[i]
		inside := sp.has(tick)
		switch {
		case inside && !h.plays(sp):
			other = sp
		case !h.plays(sp):
		case inside:
			if found == nil || sp.has(to) && !found.has(to) {
				found = sp
			}
		case tick < sp.First:
			nearest = nearer(tick, nearest, &sp.First)
		default:
			nearest, gap = nearer(tick, nearest, &sp.Last), sp.Err
		}
	}
	switch {
	case found != nil:
		return found, nil
	// The tick is kept, for another version: that helps more than the nearest tick of this one.
	case other != nil:
		return nil, fmt.Errorf("history: tick %d: %w: got %q, want %q", tick, world.ErrVersion, other.Version, h.version)
	case nearest == nil:
		return nil, fmt.Errorf("history: tick %d: %w, nor is any other of version %q", tick, ErrRange, h.version)
	case gap != nil:
		return nil, fmt.Errorf("history: tick %d: %w, nearest %d: %w", tick, ErrRange, *nearest, gap)
	}
	return nil, fmt.Errorf("history: tick %d: %w, nearest %d", tick, ErrRange, *nearest)
}

// plays reports whether the program plays the records of a span.
func (h *History) plays(sp *span) bool {
	return h.o.Any || sp.Version == h.version || sp.Version == ""
}

// nearer returns the nearest of two ticks to a tick. a may be nil.
func nearer(tick uint64, a, b *uint64) *uint64 {
	if a != nil && max(*a, tick)-min(*a, tick) <= max(*b, tick)-min(*b, tick) {
		return a
	}
	return b
}
