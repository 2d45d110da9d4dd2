package world

import (
	"context"
	"fmt"
)

// A saving is a save in the background. The zero value is done.
type saving struct {
	done <-chan struct{}
	err  *error // valid once done is closed
}

func (s saving) wait(ctx context.Context) error {
	if s.done == nil {
		return nil
	}
	select {
	case <-s.done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s.err == nil {
		return nil
	}
	return *s.err
}

// saveAside saves a snapshot while ticks continue, before a handoff. If that fails, nothing has
// happened. It also rejects damaged snapshots, so the save after the term, a pause, need not.
func (w *World) saveAside(ctx context.Context, to string) error {
	if to == w.o.Version || !w.isShared() {
		return nil
	}
	for {
		if err := w.lockRunning(ctx); err != nil {
			return err
		}
		running := w.saver.done
		switch {
		case !w.is(leading):
			w.unlock()
			return nil // handOff has the reason
		case !isOpen(running):
			var s saving
			err := w.recordIdle(ctx, w.digestPart) // the snapshot of a tick that another leader may run again is useless
			if err == nil {
				s, err = w.beginSave(ctx, w.save)
			}
			w.unlock()
			if err != nil {
				return err
			}
			return s.wait(ctx)
		}
		w.unlock() // waiting with the lock would be a pause
		if err := (saving{done: running}).wait(ctx); err != nil {
			return err
		}
	}
}

// beginSave copies the state and calls save with it in the background. The caller has the lock.
func (w *World) beginSave(ctx context.Context, save func(ctx context.Context, i *snapshot) error) (saving, error) {
	s := &w.saver
	h := w.at()
	if err := s.wait(ctx); err != nil {
		return saving{}, fmt.Errorf("world: the snapshot of record %d: %w", h.at, err)
	}
	if s.saved == h.at {
		return saving{}, nil
	}
	s.restart(h.tick)
	if err := w.copyImage(ctx); err != nil {
		w.noteUnsaved(err)
		return saving{}, err
	}
	err := new(error)
	s.done = begin(func() { *err = save(w.life, &s.image) })
	return saving{done: s.done, err: err}, nil
}
