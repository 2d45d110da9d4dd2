package model

// Item is what an item of any kind holds, as far as its kind has it.
type Item struct {
	Key    uint64 // changed in place, and sorted by
	Serial uint64 // never changed, and different for every value ever made
	Links  [Links]uint64
}

// Links is how many handles an item may hold.
const Links = 3

// Value is an item as it is recorded: a link may be a provisional handle, and is
// then also the name of what it stands for.
type Value struct {
	Item
	Names [Links]int // by link; 0: the link is no provisional handle of the program
	Share int        // not 0: the links lie behind one slice with those of the other values of this number
}

// Kind is what a command does.
type Kind int

// The kinds of commands.
const (
	Create       Kind = iota
	Put               // in Table, to ID
	Stage             // completes the value of the create ID, if OK
	Erase             // in Table, of ID
	EraseUntyped      // of ID, wherever it is
	EraseAll          // in Table, of what lives when the flush begins
	Set               // in Column of Table, of the element of ID
	Unset             // likewise, of optional data
)

// Command is one command as a task recorded it.
type Command struct {
	Kind  Kind
	Table int
	ID    uint64 // what it names; of a create, its provisional handle
	Name  int    // of the create, or that ID is the provisional handle of; 0: it is none
	OK    bool   // of a stage: what the store said
	Value Value

	ByRow  bool // of an erase: by the chunk of a packed table, which comes behind the others of its queue
	Column int  // of a set or unset
	own    bool // of such: the same queue recorded the create
}

// Counts are the counters of a report.
type Counts struct {
	Created, Erased, Put, Superseded, Dropped, Redundant, Stale, CancelledOut int
	Dangling, Depleted                                                        int
}

func (c *Counts) add(o Counts) {
	c.Created += o.Created
	c.Erased += o.Erased
	c.Put += o.Put
	c.Superseded += o.Superseded
	c.Dropped += o.Dropped
	c.Redundant += o.Redundant
	c.Stale += o.Stale
	c.CancelledOut += o.CancelledOut
	c.Dangling += o.Dangling
	c.Depleted += o.Depleted
}

// Sample is a stale command in a report. The bits of provisional handles differ
// from run to run; theirs are 0.
type Sample struct {
	ID                   uint64
	TypeID               uint16
	Kind                 Kind // Erase, Put, Set or Unset
	Column               int  // of a Set or Unset
	Pass, Task, Sequence int
}

// Report is what a flush must report.
type Report struct {
	Epoch   uint64
	Total   Counts
	Tables  []TableReport  // by typeId
	Columns []ColumnReport // by typeId, and then as added
	Stale   []Sample

	DroppedCalls int // of the inbox
}

// TableReport is the part of one table.
type TableReport struct {
	Table int
	Counts
}

// ColumnReport is the part of one column that was set.
type ColumnReport struct {
	ColumnID
	Counts
}

// Table is what both models are told of a table.
type Table struct {
	TypeID  uint16 // the first
	Shards  int
	Stable  bool
	MinFree int
	Max     int // MaxItems; 0: none
	Chunk   int // rows of a chunk
	Changes bool
	Events  bool // all items end in a flush that no Write is around
}

// has reports whether one of the table's typeIds is in the handle.
func (t *Table) has(id uint64) bool {
	typeID := typeIDOf(id)
	return typeID >= t.TypeID && int(typeID) < int(t.TypeID)+t.Shards
}

const freeBit = 1 << 63

func isProvisional(id uint64) bool { return id&freeBit != 0 }
func typeIDOf(id uint64) uint16    { return uint16(id>>48) & 0x7fff }
