package maptest

import "handloom/shard/handle"

// abstractModel is a plain Go map from handle to value: who lives, and with
// which value. It takes the handles from the map under test and knows nothing
// of slots, rows or order.
type abstractModel struct {
	live   map[handle.ID]uint64
	issued map[handle.ID]bool
}

func newAbstractModel() *abstractModel {
	return &abstractModel{live: map[handle.ID]uint64{}, issued: map[handle.ID]bool{}}
}

// insert reports whether id may be issued: it is not null, not provisional and
// was not issued before (G3).
func (a *abstractModel) insert(id handle.ID, value uint64) bool {
	fresh := id != 0 && id < 1<<63 && !a.issued[id]
	a.issued[id] = true
	a.live[id] = value
	return fresh
}

// erase reports whether there was an item to erase.
func (a *abstractModel) erase(id handle.ID) bool {
	_, ok := a.live[id]
	delete(a.live, id)
	return ok
}
