package handle

import "fmt"

// StaleError is the panic value of the maps' At methods for a handle that names no item.
type StaleError struct {
	Handle ID
	Held   ID     // content of the slot, as a handle; free bit set: vacant or depleted; null: no such slot
	TypeID uint16 // typeId of the map
}

// Error names the handle, the content of the slot, and the fix.
func (e *StaleError) Error() string {
	switch {
	case e.Handle.IsZero():
		return "the null handle names no item; use Get where a handle may be null"
	case e.Handle.IsProvisional():
		return fmt.Sprintf("handle %v names no item: it is provisional; after the flush Resolve gives the real one", e.Handle)
	case e.Handle.TypeID() != e.TypeID:
		return fmt.Sprintf("handle %v names no item: it has typeId %d, but it was looked up among handles of typeId %d; use the table or map that issued it",
			e.Handle, e.Handle.TypeID(), e.TypeID)
	}
	return fmt.Sprintf("handle %v names no item: %s; use Get where a handle may be stale", e.Handle, e.held())
}

func (e *StaleError) held() string {
	switch {
	case e.Held.IsZero():
		return "there is no such slot"
	case !e.Held.IsProvisional():
		return fmt.Sprintf("the slot holds %v", e.Held)
	case e.Held.Generation() == 0:
		return "the slot is depleted"
	default:
		return fmt.Sprintf("the slot is vacant, its next handle is %v", e.Held&^FreeBit)
	}
}
