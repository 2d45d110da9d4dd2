package dense

import (
	"iter"

	"handloom/internal/items"
	"handloom/internal/slotset"
	"handloom/shard/handle"
)

// Items returns the dense set: every item by row. Its capacity equals its length.
func Items[T any](d *Set) []T {
	all := *items.As[T](&d.items)
	return all[:len(all):len(all)]
}

func Range[T any](d *Set, lo, hi int) []T { return Items[T](d)[lo:hi:hi] }

func (d *Set) Range(lo, hi int) items.Slice { return d.items.Sub(lo, hi, d.typ.Size) }

func All[T any](d *Set) iter.Seq2[handle.Of[T], *T] {
	return func(yield func(handle.Of[T], *T) bool) {
		all := *items.As[T](&d.items)
		meta := d.meta[:len(all)]
		words := d.set.Words
		for row := range all {
			slot := meta[row]
			h := words[slot]&slotset.UpperHalf | handle.ID(slot)
			if !yield(handle.Of[T]{ID: h}, &all[row]) {
				return
			}
		}
	}
}
