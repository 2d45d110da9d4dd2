package shard

import (
	"fmt"
	"unsafe"

	"handloom/shard/handle"
)

// Leak returns an error that names the first item, by row, that holds a
// provisional handle: in one of the fields, given by their offsets, or where
// visitor, unless it is nil, leads. It takes O(Rows()) time and is for checked
// builds.
func (s *Shard) Leak(fields []uintptr, visitor LinkVisitor) error {
	if len(fields) == 0 && visitor == nil {
		return nil
	}
	for id, v := range s.Map.All {
		if err := leak("item", id, v, fields, visitor); err != nil {
			return err
		}
	}
	return nil
}

// LeakColumn is [Shard.Leak] for a column.
func (s *Shard) LeakColumn(i int, fields []uintptr, visitor LinkVisitor) error {
	if len(fields) == 0 && visitor == nil {
		return nil
	}
	for row := range s.Map.Rows() {
		if err := leak("the element of", s.Map.IDAt(row), s.columns[i].At(row), fields, visitor); err != nil {
			return err
		}
	}
	return nil
}

// leak returns an error if the value at v, of the item that id names, holds a provisional
// handle.
func leak(what string, id handle.ID, v unsafe.Pointer, fields []uintptr, visitor LinkVisitor) error {
	for _, offset := range fields {
		if held := *(*handle.ID)(unsafe.Add(v, offset)); held.IsProvisional() {
			return fmt.Errorf("%s %v holds %v at offset %d", what, id, held, offset)
		}
	}
	if leaked := behind(v, visitor); !leaked.IsZero() {
		return fmt.Errorf("%s %v holds %v behind a reference", what, id, leaked)
	}
	return nil
}

// behind returns the first provisional handle that visitor leads to, or null. A
// visitor that panics is the flush's to report, for a recorded value.
func behind(v unsafe.Pointer, visitor LinkVisitor) (leaked handle.ID) {
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
