package batch

import (
	"unsafe"

	"handloom/internal/items"
	"handloom/shard/handle"
)

// links are the places of handles in an item.
type links struct {
	fields  []uintptr                                         // offsets
	visitor func(v unsafe.Pointer, visit func(id *handle.ID)) // visits handles in references; nil: none
}

func (l *links) any() bool { return len(l.fields) > 0 || l.visitor != nil }

// renaming replaces the provisional handles in values.
type renaming struct {
	to    func(handle.ID) handle.ID
	note  func(*handle.ID) // appends to found; bound once
	value unsafe.Pointer   // value that the visitor walks
	size  uintptr
	found []renamed
}

// renamed is a handle in a reference and its previous value.
type renamed struct {
	id  *handle.ID
	was handle.ID
}

func (n *renaming) init(to func(handle.ID) handle.ID) {
	n.to = to
	n.note = func(id *handle.ID) {
		// Handles inside the value are fields. A handle visited twice is stored with its
		// previous value twice, and so gets the same new one.
		inside := uintptr(unsafe.Pointer(id))-uintptr(n.value) < n.size
		if !inside && id.IsProvisional() {
			n.found = append(n.found, renamed{id, *id})
		}
	}
}

// rename renames the handles in the value at v, of type t.
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
	for _, at := range n.found {
		*at.id = n.to(at.was)
	}
}

// undo restores the handles in references of the last renamed value: other values may share
// them.
func (n *renaming) undo() {
	for _, at := range n.found {
		*at.id = at.was
	}
	n.reset()
}

func (n *renaming) reset() {
	clear(n.found)
	n.found = n.found[:0]
}
