package apply

import (
	"fmt"
	"unsafe"

	"handloom/shard/handle"
)

// Leak returns an error that names the first item, by row, that holds a
// provisional handle: in one of the fields, given by their offsets, or where
// visitor, unless it is nil, leads. It takes O(Rows()) time and is for checked
// builds.
func (s *Shard) Leak(fields []uintptr, visitor Visitor) error {
	if len(fields) == 0 && visitor == nil {
		return nil
	}
	for id, v := range s.Map.All {
		for _, offset := range fields {
			if held := *(*handle.ID)(unsafe.Add(v, offset)); held.IsProvisional() {
				return fmt.Errorf("item %v holds %v at offset %d", id, held, offset)
			}
		}
		if leaked := behind(v, visitor); !leaked.IsZero() {
			return fmt.Errorf("item %v holds %v behind a reference", id, leaked)
		}
	}
	return nil
}

// behind returns the first provisional handle that visitor leads to, or null. A
// visitor that panics is the flush's to report, for a recorded value.
func behind(v unsafe.Pointer, visitor Visitor) (leaked handle.ID) {
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
