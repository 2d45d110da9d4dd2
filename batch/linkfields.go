package batch

import (
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
)

// links are the places of handles in values of one type.
type links struct {
	fields  []uintptr                                         // offsets
	visitor func(v unsafe.Pointer, visit func(id *handle.ID)) // visits handles in references; nil: none
}

// any reports whether values can have handles.
func (l *links) any() bool { return len(l.fields) > 0 || l.visitor != nil }

// renaming replaces provisional handles in values.
type renaming struct {
	to    func(handle.ID) handle.ID
	note  func(*handle.ID)
	value unsafe.Pointer
	size  uintptr
	found []renamed
}

type renamed struct {
	id  *handle.ID
	was handle.ID
}

// init binds the functions once, so that rename allocates nothing.
func (n *renaming) init(to func(handle.ID) handle.ID) {
	n.to = to
	n.note = func(id *handle.ID) {
		// Handles inside the value are fields.
		inside := uintptr(unsafe.Pointer(id))-uintptr(n.value) < n.size
		if !inside && id.IsProvisional() {
			n.found = append(n.found, renamed{id, *id})
		}
	}
}

// rename replaces the provisional handles in the value at v. Results of to may be
// provisional, too.
func (n *renaming) rename(l *links, t *items.Type, v unsafe.Pointer) {
	for _, offset := range l.fields {
		if id := (*handle.ID)(unsafe.Add(v, offset)); id.IsProvisional() {
			*id = n.to(*id)
		}
	}
	if l.visitor == nil {
		return
	}
	n.found, n.value, n.size = n.found[:0], v, t.Size
	l.visitor(v, n.note)
	n.value = nil
	// The visitor has ended: it may visit a handle twice, and a replaced handle would be
	// replaced again.
	for _, at := range n.found {
		*at.id = n.to(at.was)
	}
}

// Other values may share the references. undo restores the handles in the references of the
// last value. Fields keep the new names: they belong to the queue.
func (n *renaming) undo() {
	for _, at := range n.found {
		*at.id = at.was
	}
	n.reset()
}

// reset drops the addresses, which keep references alive.
func (n *renaming) reset() {
	clear(n.found)
	n.found = n.found[:0]
}
