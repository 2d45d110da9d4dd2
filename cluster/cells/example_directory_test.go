package cells_test

import (
	"context"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// A Directory finds the items of a table by a key that they keep when they move to another
// cell, where they get another handle. For a while it reports the cell that they moved to.
// It is part of the state of its store. Programs copy this file.
type Directory[K comparable, T any] struct {
	store    *store.Store
	items    *store.Index[K, T]
	forwards *store.Table[forward[K]]
	byKey    *store.Index[K, forward[K]]
}

type forward[K comparable] struct {
	Key   K
	To    cells.ID
	Until uint64 // last tick of the forward
}

// NewDirectory adds a Directory of a table to a store: an index, and a table named after
// items. Keys are unique and never change. It panics as [store.Register] and
// [store.AddIndex] do.
func NewDirectory[K comparable, T any](s *store.Store, items store.TableOf[T], key func(item *T) K) *Directory[K, T] {
	d := &Directory[K, T]{store: s}
	d.items = store.AddIndex(items, "directory", func(item *T) (K, bool) { return key(item), true })
	d.forwards = store.Register(s, store.TableOptions[forward[K]]{Name: items.Name() + " forwards"})
	d.byKey = store.AddIndex(d.forwards, "key", func(f *forward[K]) (K, bool) { return f.Key, true })
	return d
}

// Find returns the handle of the item with a key, and whether one exists. It may be called
// where [store.Index.Find] may.
func (d *Directory[K, T]) Find(key K) (store.Handle[T], bool) { return d.items.Find(key) }

// Moved returns the cell of the last [Directory.Forward] of a key, and whether it is valid.
func (d *Directory[K, T]) Moved(key K) (to cells.ID, ok bool) {
	h, ok := d.byKey.Find(key)
	if !ok {
		return 0, false
	}
	return d.forwards.At(h).To, true
}

// Forward makes [Directory.Moved] return a cell for a key through the tick until, or until
// an item has the key after a tick. It fails with [store.ErrFull], and panics outside of
// the Write of w.
func (d *Directory[K, T]) Forward(w *store.Writer, key K, to cells.ID, until uint64) error {
	f := forward[K]{key, to, until}
	if h, ok := d.byKey.Find(key); ok {
		*d.forwards.At(h) = f
		return nil
	}
	d.forwards.Insert(w, f)
	return nil
}

// Tick returns a tick of a world that calls tick, flushes its commands, and removes old
// forwards. It can be passed to [cells.Outbox.Tick].
func (d *Directory[K, T]) Tick(tick func(ctx context.Context, w *store.Writer, t world.Tick) error) func(ctx context.Context, w *store.Writer, t world.Tick) error {
	return func(ctx context.Context, w *store.Writer, t world.Tick) error {
		if err := tick(ctx, w, t); err != nil {
			return err
		}
		if _, err := d.store.Flush(ctx); err != nil {
			return err
		}
		var ended []store.Handle[forward[K]]
		for h, f := range d.forwards.All() {
			if _, here := d.items.Find(f.Key); here || f.Until <= t.Number {
				ended = append(ended, h)
			}
		}
		for _, h := range ended {
			d.forwards.Remove(w, h)
		}
		return nil
	}
}
