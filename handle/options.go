package handle

import "errors"

// Options configure a map of package handlemap or slotmap. The zero Options are valid.
type Options struct {
	TypeID   int // in every handle; 0 to 32767
	Reserve  int // initial capacity in items
	MinFree  int // minimum number of vacant slots; a slot rests for at least as many erases
	MaxItems int // 0: limited only by the slots
}

// Stats are counts of a map.
type Stats struct {
	Live     int   // items
	Vacant   int   // slots waiting for reuse
	Depleted int   // slots that used their last generation
	Slots    int   // sum of the three
	Bytes    int64 // memory of the map in bytes, capacity included
}

// ErrFull means that items would exceed MaxItems or the range of slots. The message has the
// numbers. Nothing has changed.
var ErrFull = errors.New("container is full")
