package trace

// MaxTable is the highest table number of a trace.
const MaxTable = 1023

// Kind says what happened. It is the letter that begins the event's line; the
// zero Kind is none of them.
type Kind byte

// The four kinds of events.
const (
	Tick   Kind = 'T' // the batch ends here
	Create Kind = 'C' // an item appears
	Update Kind = 'U' // it changes
	Erase  Kind = 'E' // it disappears
)

// String returns the word for k, or "unknown" for anything but the four kinds.
func (k Kind) String() string {
	switch k {
	case Tick:
		return "tick"
	case Create:
		return "create"
	case Update:
		return "update"
	case Erase:
		return "erase"
	}
	return "unknown"
}

// Event is one line of a trace. Table and Key are 0 in a [Tick].
type Event struct {
	Kind  Kind
	Table uint16 // 0..MaxTable
	Key   uint64
	Line  int // where a Reader found it, counted from 1
}
