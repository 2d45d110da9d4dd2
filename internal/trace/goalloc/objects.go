package goalloc

import (
	"errors"
	"fmt"
)

// maxSerial bounds serial numbers and keys to 32 bits.
const maxSerial = 1<<32 - 1

var errTooMany = errors.New("more than 4294967295 objects")

func (h *history) addObject(l line) error {
	h.heapSeen = true
	if l.op == opFree {
		h.freeSlot(l.id)
		return nil
	}
	if _, alive := h.alive[l.id]; alive {
		if l.op == opExists {
			h.skipped.ListedAgain++
			return nil
		}
		h.repaired.LostFrees++
		h.free(l.id)
	}
	if uint64(len(h.objects)) == maxSerial {
		return errTooMany
	}
	serial := uint32(len(h.objects))
	h.objects = append(h.objects, h.typeNumber(l.typ))
	h.alive[l.id] = serial
	h.record(recordCreate, serial)
	return nil
}

// freeSlot frees what lies in the slot at id: mostly the object there, at
// times one behind it, or both.
func (h *history) freeSlot(id uint64) {
	freed := h.free(id)
	if h.spans.sharesSlot(id) && h.free(id+1) {
		freed = true
	}
	if !freed {
		h.skipped.UnknownFrees++
	}
}

// free ends the life of the object at id and reports whether there was one.
func (h *history) free(id uint64) bool {
	serial, alive := h.alive[id]
	if alive {
		delete(h.alive, id)
		h.record(recordErase, serial)
	}
	return alive
}

// typeNumber returns the index in h.types of the type that the current
// generation numbers id.
func (h *history) typeNumber(id uint64) uint32 {
	key, name := typeKey{gen: h.gen, id: id}, ""
	if found, ok := h.names.lookup(h.gen, id); ok {
		key, name = typeKey{named: true, id: found.address}, found.name
	}
	if id == 0 {
		key = typeKey{} // memory without a type is that in every generation
	}
	n, ok := h.typeOf[key]
	if ok {
		return n
	}
	switch {
	case id == 0:
		name = "memory without a type"
	case !key.named:
		name = fmt.Sprintf("type %d of generation %d", id, h.gen)
	}
	n = uint32(len(h.types))
	h.types = append(h.types, name)
	h.typeOf[key] = n
	return n
}
