package model

// Item has the content of an item of any kind, as far as its kind holds it.
type Item struct {
	Key    uint64 // changed in place; sort key
	Serial uint64 // constant and unique to each value
	Links  [Links]uint64
}

const Links = 3

// Value is a recorded item. A link may be a provisional handle.
type Value struct {
	Item
	Names [Links]int // by link; 0: not provisional
	Share int        // not 0: the first link is in one slice, shared with the other values of this number
}

// Kind is the kind of a command.
type Kind int

const (
	Create Kind = iota
	Put
	Stage        // completes the value of the create ID, if OK
	Erase        // of ID in Table
	EraseUntyped // of ID in any table
	EraseAll     // all items in Table live at the start of the flush
	Set          // the element of ID in Column of Table
	Unset        // the element of ID in a sparse component
)

// Command is a recorded command, with the answer of the store to it.
type Command struct {
	Kind  Kind
	Table int
	ID    uint64 // target, or the provisional handle of a create
	Name  int    // name of the create; if ID is provisional, of its create; 0: none
	OK    bool
	Value Value

	ByRow  bool // erase by row of a packed table, after the other commands of its queue
	Column int
	own    bool // the queue of a Set or Unset recorded the create
}

// Counts are the counters of a report, as in package batch.
type Counts struct {
	Created, Erased, Unset, Put, Superseded, Dropped, Redundant, Stale, CancelledOut int
	Dangling, Depleted                                                               int
}

func (c *Counts) add(o Counts) {
	c.Created += o.Created
	c.Erased += o.Erased
	c.Unset += o.Unset
	c.Put += o.Put
	c.Superseded += o.Superseded
	c.Dropped += o.Dropped
	c.Redundant += o.Redundant
	c.Stale += o.Stale
	c.CancelledOut += o.CancelledOut
	c.Dangling += o.Dangling
	c.Depleted += o.Depleted
}

// Sample is a stale command in a report. Provisional handles are 0, because
// their bits differ from run to run.
type Sample struct {
	ID                   uint64
	TypeID               uint16
	Kind                 Kind
	Column               int
	Pass, Task, Sequence int
}

// Report is the expected report of a flush.
type Report struct {
	Epoch   uint64
	Total   Counts
	Tables  []TableReport  // by typeId
	Columns []ColumnReport // by typeId, then by number
	Stale   []Sample

	DroppedCalls int
}

// TableReport is the line of a table with commands.
type TableReport struct {
	Table int
	Counts
}

// ColumnReport is the report of one column with Sets.
type ColumnReport struct {
	ColumnID
	Counts
}

// Table describes a table to both models.
type Table struct {
	TypeID  uint16 // first typeId
	Shards  int
	Stable  bool
	MinFree int
	Max     int // MaxItems; 0: no limit
	Chunk   int // rows per chunk
	Changes bool
	Events  bool // all items end in a flush outside a Frame
}

// has reports whether the handle has a typeId of the table.
func (t *Table) has(id uint64) bool {
	typeID := typeIDOf(id)
	return typeID >= t.TypeID && int(typeID) < int(t.TypeID)+t.Shards
}

// The layout of a handle is written here again, so that a fault in package handle is found.
const freeBit = 1 << 63

// isProvisional reports the free bit. Handles of live items never have it.
func isProvisional(id uint64) bool { return id&freeBit != 0 }
func typeIDOf(id uint64) uint16    { return uint16(id>>48) & 0x7fff }
