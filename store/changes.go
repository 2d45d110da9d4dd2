package store

import (
	"fmt"
	"iter"

	"handloom/internal/items"
)

// Created iterates over the items of t that the last flush created, in the order of
// recording: by queue key, then by sequence. What a spatial index, a network
// layer or a renderer has to add is here, what it has to remove in Erased, and
// what it has to look at again in Replaced.
//
// The three are good until the next flush with commands, and empty when that had
// none for the table. They are read like the items themselves; items that a
// Write has erased since are left out. They panic unless the table was
// registered with Changes. Created costs nothing; the other two cost a copy of
// the erased items and of the handles in each flush.
func Created[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := t.tableOf()
	if !of.changed("Created") {
		return nothing
	}
	return living[T](of, of.recorder.Published.Created())
}

// Replaced iterates over the items of t that the last flush put a value to, by
// typeId and then in the order their rows had before. Items that were created by
// the same flush are not among them. See [Created].
func Replaced[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := t.tableOf()
	if !of.changed("Replaced") {
		return nothing
	}
	return func(yield func(Handle[T], *T) bool) {
		for _, sh := range of.order {
			for h, v := range living[T](of, sh.ReplacedItems()) {
				if !yield(h, v) {
					return
				}
			}
		}
	}
}

// Erased iterates over the items of t that the last flush erased, with the handles
// they had and their values before the batch, by typeId and then in the order of
// their rows. Puts of the same batch to them were dropped. See [Created].
func Erased[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := t.tableOf()
	if !of.changed("Erased") {
		return nothing
	}
	return func(yield func(Handle[T], *T) bool) {
		for _, sh := range of.order {
			ids, values := sh.ErasedItems()
			erased := *items.As[T](&values)
			for i, id := range ids {
				if !yield(Handle[T]{ID: id}, &erased[i]) {
					return
				}
			}
		}
	}
}

func nothing[H, V any](func(H, V) bool) {}

// living iterates over the items that ids name, null handles left out.
func living[T any](t *table, ids []ID) iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for _, id := range ids {
			if item := t.item(id); item != nil && !yield(Handle[T]{ID: id}, (*T)(item)) {
				return
			}
		}
	}
}

// changed reports whether the last flush had commands for the table, whose
// changes the table must keep.
func (t *table) changed(method string) bool {
	if !t.tracked {
		panic(fmt.Sprintf("store: %s of table %q, which keeps no changes; register it with TableOptions.Changes", method, t.name))
	}
	return t.flushing.epoch == t.store.epoch.Load() && t.recorder.Published.Known()
}

// forgetChanges empties the lists unless they are of the flush with the given
// epoch.
func (t *table) forgetChanges(epoch uint64) {
	if t.flushing.epoch == epoch {
		return
	}
	for _, sh := range t.order {
		sh.ForgetChanges()
	}
}
