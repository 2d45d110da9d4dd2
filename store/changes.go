package store

import (
	"fmt"
	"iter"

	"handloom/internal/check"
	"handloom/internal/items"
)

// Created iterates over the items of t that the last frame created, or the one that runs
// has so far: flush by flush, each in the order of recording, by queue key and then by
// sequence. What a spatial index, a network layer or a renderer has to add is here,
// what it has to remove in Erased, and what it has to look at again in Replaced.
//
// The three say what the flushes of a frame came to. An item that it created and erased
// is in none of them; one that it created and replaced is in Created alone; one that it
// replaced, once or often, and erased is in Erased alone. What a Write did at once, by
// Insert, Remove, Clear or Maps, is in none, and what it removed so is in Created and
// Replaced no more.
//
// They are good until the first flush with commands of the next frame, and empty when
// the frame had none for the table, or a Rollback took it back. They are read like the
// items themselves, and panic unless the table was registered with Changes. Created
// costs a few words per flush; the other two cost a copy of the erased items and of the
// handles, and in the flushes of a frame behind its first a visit to what that changed
// before.
//
// The guide's page is guide/changes.md.
func Created[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := tableOf("Created", t)
	if !of.changed("Created") {
		return nothing
	}
	return func(yield func(Handle[T], *T) bool) {
		for _, c := range of.recorder.Published() {
			if !living(of, c.Created(), yield) {
				return
			}
		}
	}
}

// Replaced iterates over the items of t that the last frame put a value to, by typeId,
// then flush by flush and in the order that their rows had before. Items that the frame
// created are not among them, and none is there twice. See [Created].
func Replaced[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := tableOf("Replaced", t)
	if !of.changed("Replaced") {
		return nothing
	}
	return func(yield func(Handle[T], *T) bool) {
		for _, sh := range of.order {
			if !living(of, sh.ReplacedItems(), yield) {
				return
			}
		}
	}
}

// Erased iterates over the items of t that the last frame erased, with the handles they
// had and the values they had when they were erased, by typeId, then flush by flush and
// in the order of their rows. Puts of the same batch to them were dropped, those of
// flushes before are in the values. Items that the frame created are not among them. See
// [Created].
func Erased[T any](t TableOf[T]) iter.Seq2[Handle[T], *T] {
	of := tableOf("Erased", t)
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

// living yields the items that ids name, null handles left out, until it is told to stop.
func living[T any](t *table, ids []ID, yield func(Handle[T], *T) bool) (goOn bool) {
	for _, id := range ids {
		if item := t.item(id); item != nil && !yield(Handle[T]{ID: id}, (*T)(item)) {
			return false
		}
	}
	return true
}

// changed reports whether the last frame had commands for the table, whose changes the
// table must keep.
func (t *table) changed(method string) bool {
	t.mustTrack(method)
	if check.Cheap {
		t.lookup(method)
	}
	return t.inFrame(t.store.flush.last) && len(t.recorder.Published()) > 0
}

func (t *table) mustTrack(method string) {
	if !t.tracked {
		panic(fmt.Sprintf("store: %s of table %q, which keeps no changes; register it with TableOptions.Changes", method, t.name))
	}
}

// forgetChanges empties the lists.
func (t *table) forgetChanges() {
	for i := range t.flushing.listed.All {
		t.order[i].ForgetChanges()
	}
	t.flushing.listed = 0
}
