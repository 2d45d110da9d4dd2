package handle

import "fmt"

// StaleError is what the maps' At methods panic with: a handle that names no
// item, and what its slot holds instead.
type StaleError struct {
	Handle ID
	Held   ID // generation and typeId of the slot; free bit set: vacant or depleted; null: no such slot
}

// Error names the handle and what the slot holds.
func (e *StaleError) Error() string {
	held := "there is no such slot"
	switch {
	case e.Held == 0:
	case !e.Held.IsProvisional():
		held = fmt.Sprintf("the slot holds %v", e.Held)
	case e.Held.Generation() == 0:
		held = "the slot is depleted"
	default:
		held = fmt.Sprintf("the slot is vacant, its next handle is %v", e.Held&^FreeBit)
	}
	return fmt.Sprintf("handle %v names no item: %s; use Get where a handle may be stale", e.Handle, held)
}
