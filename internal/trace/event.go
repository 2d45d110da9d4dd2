package trace

const MaxTable = 1023

// Kind is the first letter of an event's line. The zero Kind is not a kind of
// event.
type Kind byte

const (
	Tick   Kind = 'T' // end of a batch
	Create Kind = 'C'
	Update Kind = 'U' // an item changes
	Erase  Kind = 'E'
)

// String returns the word for k, or "unknown".
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
	Line  int
}
