package shard

import (
	"fmt"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
)

// Leak returns an error for the first component that holds a provisional handle, and its
// attachment ([batch.ToTable] for an item), or nil. It takes O(Rows()) time and is for
// checked builds.
func (s *Shard) Leak() (attachment int, err error) {
	if l := &s.links; l.exist() {
		for id, v := range s.Map.All {
			if err := l.leak("item", id, v); err != nil {
				return batch.ToTable, err
			}
		}
	}
	for _, col := range s.columns {
		if !col.links.exist() {
			continue
		}
		for row := range s.Map.Rows() {
			if err := col.links.leak("the element of", s.Map.IDAt(row), col.At(row)); err != nil {
				return col.number, err
			}
		}
	}
	for _, d := range s.data {
		if !d.links.exist() {
			continue
		}
		for row, id := range d.Owners(0, d.Rows()) {
			if err := d.links.leak("what is set of", id, d.At(row)); err != nil {
				return d.number, err
			}
		}
	}
	return 0, nil
}

func (l *links) exist() bool { return len(l.fields) > 0 || l.visitor != nil }

func (l *links) leak(what string, id handle.ID, v unsafe.Pointer) error {
	for _, offset := range l.fields {
		if held := *(*handle.ID)(unsafe.Add(v, offset)); held.IsProvisional() {
			return fmt.Errorf("%s %v holds %v at offset %d", what, id, held, offset)
		}
	}
	if leaked := findLeak(v, l.visitor); !leaked.IsZero() {
		return fmt.Errorf("%s %v holds %v in a reference", what, id, leaked)
	}
	return nil
}

// findLeak returns the first provisional handle that visitor finds, or null. The flush
// reports panics of a visitor, so it ignores them.
func findLeak(v unsafe.Pointer, visitor LinkVisitor) (leaked handle.ID) {
	if visitor == nil {
		return 0
	}
	defer func() { _ = recover() }()
	visitor(v, func(id *handle.ID) {
		if id.IsProvisional() && leaked.IsZero() {
			leaked = *id
		}
	})
	return leaked
}
