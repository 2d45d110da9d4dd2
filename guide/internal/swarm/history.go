package swarm

import (
	"context"
	"fmt"

	"handloom/store"
)

// kept is the number of checkpoints of a history, every the ticks between two of them.
const (
	kept  = 32
	every = 8
)

// History is a swarm that can go back to its last ticks.
type History struct {
	*Swarm
	Now     int // ticks played
	saved   [kept]store.Checkpoint
	acts    [kept * every][]Act  // acts of tick t at t modulo the length
	digests [kept * every]uint64 // digests after the ticks
}

// NewHistory begins a history of a swarm of n motes.
func NewHistory(ctx context.Context, n int) (*History, error) {
	w, err := New(ctx, n)
	return &History{Swarm: w}, err
}

// First returns the earliest tick that Back accepts.
func (h *History) First() int { return max(0, (h.Now/every-kept+2)*every) }

// Play plays the next tick, and keeps its acts and its digest.
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

// Back restores the state after the given number of ticks: it goes back to a checkpoint
// and plays the kept acts again. It fails if a tick results in another state.
func (h *History) Back(ctx context.Context, workers, tick int) error {
	if tick < h.First() || tick > h.Now {
		return fmt.Errorf("tick %d, want %d to %d", tick, h.First(), h.Now)
	}
	h.Now = tick / every * every
	if h.Now == tick && tick > 0 {
		h.Now -= every // so that the digest after tick h.Now is compared, too
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
			return fmt.Errorf("tick %d, played again: digest %x, want %x", h.Now, is, was)
		}
	}
	return nil
}
