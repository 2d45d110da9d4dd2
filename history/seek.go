package history

import "context"

// seek moves the cursor to the state after a tick. It prefers a span that also has tick to,
// because the last tick of a version is the first tick of the next version.
func (h *History) seek(ctx context.Context, tick, to uint64) (*player, error) {
	sp, err := h.spanOf(tick, to)
	if err != nil {
		return nil, err
	}
	if h.cursor == nil || h.cursor.span != sp {
		h.dropCursor() // first, so that the memory of two stores is never in use
		if h.cursor, err = h.newPlayer(ctx, sp, 0); err != nil {
			return nil, err
		}
		// Checkpoints belong to the store that made them.
		h.shelf = shelf{limit: h.o.Memory, ticks: sp.Last - sp.First}
	}
	p := h.cursor
	if err := h.approach(ctx, tick); err != nil {
		return nil, err
	}
	return p, h.play(ctx, tick)
}

func (h *History) dropCursor() {
	if h.cursor != nil {
		h.cursor.Close()
	}
	h.cursor, h.shelf = nil, shelf{}
}

// nearTicks are ticks that are rather played than skipped by reading a snapshot.
const nearTicks = 16

// approach moves the cursor to the nearest state at or before a tick that needs no play.
func (h *History) approach(ctx context.Context, tick uint64) error {
	p, m, s := h.cursor, h.shelf.nearest(tick), h.cursor.span.before(tick)
	at := p.tick.Number
	here := !p.lost && at <= tick // a store plays forward only
	switch {
	case here && (m == nil || at >= m.tick) && at+nearTicks >= s.tick:
		return nil
	// A checkpoint is in memory: a few more ticks are played than from a snapshot, but nothing is read.
	case m != nil && m.tick+nearTicks >= s.tick:
		return p.back(ctx, m)
	}
	if err := p.start(ctx, s.at); err != nil {
		return err
	}
	// Before the play makes checkpoints: a distance that grows later drops some of them.
	h.shelf.fit(p)
	return nil
}

// play plays up to a tick, and saves checkpoints.
func (h *History) play(ctx context.Context, tick uint64) error {
	p := h.cursor
	if p.tick.Number == tick {
		return nil
	}
	// The rungs are for steps back from this tick; earlier rungs of the last seek stay.
	rungs := h.shelf.ladder(tick)
	return p.store.Team(ctx, func(ctx context.Context) error {
		for p.tick.Number < tick {
			if err := p.next(ctx); err != nil {
				return err
			}
			if err := h.shelf.keep(ctx, p, rungs); err != nil {
				return err
			}
		}
		return nil
	})
}
