package handle

import "errors"

// Options configure a map of package handlemap or slotmap. The zero Options are valid.
type Options struct {
	TypeID   int // in every handle; 0 to 32767
	Reserve  int // items to make room for at once
	MinFree  int // vacant slots held back, so that a slot rests for at least as many erases
	MaxItems int // 0: as many as slots allow
}

// Stats are the figures of a map at one moment.
type Stats struct {
	Live     int   // items
	Vacant   int   // slots waiting to be issued again
	Depleted int   // slots that used their last generation
	Slots    int   // the three together
	Bytes    int64 // memory of the map, capacity included
}

// ErrFull means that the items would exceed MaxItems, or the slots the number that a
// handle can name. The message has the figures, and nothing has changed.
var ErrFull = errors.New("container is full")
