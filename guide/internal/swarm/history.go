package swarm

import (
	"context"
	"fmt"

	"handloom/store"
)

// kept is how many checkpoints a history has, every is how many ticks apart they are.
const (
	kept  = 32
	every = 8
)

// History is a swarm whose last ticks can be gone back to.
type History struct {
	*Swarm
	Now     int // ticks played
	saved   [kept]store.Checkpoint
	acts    [kept * every][]Act  // of tick t, at t modulo the length
	digests [kept * every]uint64 // behind it
}

// NewHistory begins a history of a swarm of n motes.
func NewHistory(ctx context.Context, n int) (*History, error) {
	w, err := New(ctx, n)
	return &History{Swarm: w}, err
}

// First is the earliest tick that can be gone back to.
func (h *History) First() int { return max(0, (h.Now/every-kept+2)*every) }

// Play plays the next tick, and notes what was done in it and what came of it.
func (h *History) Play(ctx context.Context, workers int, acts []Act) (digest uint64, err error) {
	if h.Now%every == 0 {
		if err := h.Store.Checkpoint(ctx, &h.saved[h.Now/every%kept]); err != nil {
			return 0, err
		}
	}
	if err := h.Tick(ctx, workers, h.Now, acts); err != nil {
		return 0, err
	}
	if digest, err = h.Store.Digest(ctx); err != nil {
		return 0, err
	}
	at := h.Now % len(h.acts)
	h.acts[at], h.digests[at] = acts, digest
	h.Now++
	return digest, nil
}

// Back goes back to where tick ticks had been played: to the checkpoint before, and
// forward from there with what was done then. It fails when the ticks played again
// come to another state.
func (h *History) Back(ctx context.Context, workers, tick int) error {
	if tick < h.First() || tick > h.Now {
		return fmt.Errorf("tick %d is not one of %d to %d", tick, h.First(), h.Now)
	}
	h.Now = tick / every * every
	if h.Now == tick && tick > 0 {
		h.Now -= every // the state behind a tick, checked as any other
	}
	if err := h.Store.Rollback(ctx, &h.saved[h.Now/every%kept]); err != nil {
		return err
	}
	for h.Now < tick {
		at := h.Now % len(h.acts)
		was := h.digests[at]
		is, err := h.Play(ctx, workers, h.acts[at])
		if err != nil {
			return err
		}
		if is != was {
			return fmt.Errorf("tick %d, played again, came to %x; it was %x", h.Now, is, was)
		}
	}
	return nil
}
