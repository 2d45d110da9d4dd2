package store

import (
	"fmt"
	"iter"
)

// Created iterates over the items that the last flush created, in the order of
// recording: by queue key, then by sequence. What a spatial index, a network
// layer or a renderer has to add is here, what it has to remove in Erased, and
// what it has to look at again in Replaced.
//
// The three are good until the next flush with commands, and empty when that had
// none for the table. They are read like the items themselves; items that a
// Write has erased since are left out. They panic unless the table was
// registered with Changes. Created costs nothing; the other two cost a copy of
// the erased items and of the handles in each flush.
func (t *tableBase[T]) Created() iter.Seq2[Handle[T], *T] {
	if !t.changed("Created") {
		return nothing
	}
	return t.living(t.flushing.published.Names())
}

// Replaced iterates over the items that the last flush put a value to, by
// typeId and then in the order their rows had before. Items that were created by
// the same flush are not among them. See [Table.Created].
func (t *tableBase[T]) Replaced() iter.Seq2[Handle[T], *T] {
	if !t.changed("Replaced") {
		return nothing
	}
	return func(yield func(Handle[T], *T) bool) {
		for _, sh := range t.order {
			_, replaced := sh.Changes()
			for h, v := range t.living(replaced) {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// Erased iterates over the items that the last flush erased, with the handles
// they had and their values before the batch, by typeId and then in the order of
// their rows. Puts of the same batch to them were dropped. See [Table.Created].
func (t *tableBase[T]) Erased() iter.Seq2[Handle[T], *T] {
	if !t.changed("Erased") {
		return nothing
	}
	return func(yield func(Handle[T], *T) bool) {
		for _, sh := range t.order {
			erased, _ := sh.Changes()
			for i := range erased {
				if !yield(erased[i].Handle, &erased[i].Value) {
					return
				}
			}
		}
	}
}

func nothing[H, V any](func(H, V) bool) {}

// living iterates over the items that hs name, null handles left out.
func (t *tableBase[T]) living(hs []Handle[T]) iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for _, h := range hs {
			if h.IsZero() {
				continue
			}
			if v, ok := t.order[h.TypeID()-t.first].Map.Get(h); ok && !yield(h, v) {
				return
			}
		}
	}
}

// changed reports whether the last flush had commands for the table, whose
// changes the table must keep.
func (t *tableBase[T]) changed(method string) bool {
	if !t.tracked {
		panic(fmt.Sprintf("store: %s of table %q, which keeps no changes; register it with TableOptions.Changes", method, t.name))
	}
	return t.flushing.epoch == t.store.epoch.Load() && t.flushing.published.Known()
}

func (t *tableBase[T]) tracks() bool { return t.tracked }

// forgetChanges empties the lists unless they are of the flush with the given
// epoch.
func (t *tableBase[T]) forgetChanges(epoch uint64) {
	if t.flushing.epoch == epoch {
		return
	}
	for _, sh := range t.order {
		sh.ForgetChanges()
	}
}
