package entrance

// A Probe reports each change of one item of a *store.Store, with its cause, for tools that run
// ticks again. A change lies between two boundaries:
//
//   - a phase that is not shared opens or ends, such as a Frame, a pass or a flush
//   - a task of a pass ends
//   - a system of a schedule begins or ends
//   - a Writer is about to change a table
//   - a flush has applied its commands
//
// Two writes between two boundaries are one change. While a store has a Probe, its phases use one
// worker, and the state is the same as without. The goroutine that flushes calls all methods,
// between phases.
type Probe interface {
	// Watch watches the item id from now on, and nothing else: one field, such as "Pos.X", or
	// "hull.Left" of a column or sparse data, or everything if field is empty. The item need not
	// exist. It fails for an id that no table issues and for an unknown field; the error lists
	// the fields.
	Watch(id uint64, field string) error

	// Lives reports whether the watched item exists.
	Lives() bool

	// Take returns the changes since the last Take, oldest first, in O(1) time. A Rollback or
	// Load drops the changes that were not taken.
	Take() []Change

	// Locate sets Where of each cause when the tick of the cause runs again from the same state,
	// which is the next thing that runs. It stops with the next call of Locate.
	Locate(causes []*Cause)

	// Close removes the probe from the store.
	Close()
}

// A Change is a change of the watched item.
type Change struct {
	Field    string // "": the item; the name of a column or sparse data; the watched field
	From, To string // texts; "": no item, or sparse data without a value
	By       Cause
	Lost     []Cause // further commands of the flush for Field, in key order
}

// A Cause is the command that a flush applied, or the place of a write.
type Cause struct {
	Kind     string // "create", "put", "erase", "erase all", "set", "unset", "in place" or "at once"
	System   string // "": outside of systems
	Phase    string // pass of the command, phase of the write, or the boundaries around it
	Where    string // file and line, see Locate
	Pass     int    // number of the pass in the tick, from 0; -1: none
	Task     int    // -1: none
	Sequence int    // as in batch.Sample, within a call of the input; -1: no command
	Call     int    // number of the call in the input, from 1; 0: none
	Place    any    // for Locate
}
