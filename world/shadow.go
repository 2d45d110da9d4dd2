package world

import (
	"context"

	"handloom/store"
)

// foretell plays the tick of r in advance, now and then, and goes back: see
// Options.Shadow. It returns what the state came to, which is no state if it did not.
func (w *World) foretell(ctx context.Context, writer *store.Writer, r *record, h *head, from origin) (stateDigest, error) {
	if w.shadow += w.o.Shadow; !from.own || w.shadow < 1 {
		return stateDigest{}, nil
	}
	w.shadow--
	if err := w.store.Checkpoint(ctx, &w.before); err != nil {
		return stateDigest{}, err
	}
	if err := w.play(ctx, writer, r, h, nil); err != nil {
		return stateDigest{}, err
	}
	state := w.state(r.tick)
	writer.EndFrame()
	return state, w.store.Rollback(w.claim.Context(ctx), &w.before)
}
