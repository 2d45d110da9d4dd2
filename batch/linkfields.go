package batch

import (
	"unsafe"

	"handloom/internal/items"
	"handloom/shard/handle"
)

// links is where handles lie in an item.
type links struct {
	fields  []uintptr                                         // offsets
	visitor func(v unsafe.Pointer, visit func(id *handle.ID)) // leads to those behind references; nil: there are none
}

func (l *links) any() bool { return len(l.fields) > 0 || l.visitor != nil }

// renaming gives other names to the provisional handles of values.
type renaming struct {
	to    func(handle.ID) handle.ID
	note  func(*handle.ID) // found, bound once
	value unsafe.Pointer   // that the visitor looks at
	size  uintptr
	found []renamed
}

// renamed is a handle behind a reference, and the name that it had.
type renamed struct {
	id  *handle.ID
	was handle.ID
}

func (n *renaming) init(to func(handle.ID) handle.ID) {
	n.to = to
	n.note = func(id *handle.ID) {
		// What lies inside of the value is one of its fields. One that is visited twice
		// has its name twice, and gets the other one twice.
		inside := uintptr(unsafe.Pointer(id))-uintptr(n.value) < n.size
		if !inside && id.IsProvisional() {
			n.found = append(n.found, renamed{id, *id})
		}
	}
}

// rename renames in the value at v, of a type, whose handles lie where of says.
func (n *renaming) rename(of *links, t *items.Type, v unsafe.Pointer) {
	for _, offset := range of.fields {
		if id := (*handle.ID)(unsafe.Add(v, offset)); id.IsProvisional() {
			*id = n.to(*id)
		}
	}
	if of.visitor == nil {
		return
	}
	n.found, n.value, n.size = n.found[:0], v, t.Size
	of.visitor(v, n.note)
	n.value = nil
	for _, at := range n.found {
		*at.id = n.to(at.was)
	}
}

// undo renames back what lies behind references in the value that was renamed last:
// others may share it.
func (n *renaming) undo() {
	for _, at := range n.found {
		*at.id = at.was
	}
	n.forget()
}

func (n *renaming) forget() {
	clear(n.found)
	n.found = n.found[:0]
}
