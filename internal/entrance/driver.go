package entrance

import (
	"context"
	"io"
	"time"
)

// A Command is a command of a call of the input of a tick.
type Command struct {
	Kind  string // "create", "put", "erase", "erase all", "set" or "unset"
	Table int    // in the order of registration; -1: the typeId is unknown
	Part  int    // column or sparse data, in the order of addition; -1: the item

	// ID is the item of a put, erase, set and unset. A handle with the free bit, also in a Value,
	// has the number of a create of the call in its table, from 1, in the lowest 48 bits; with
	// number 0 it is stale.
	ID uint64

	Value any // pointer to the item, element or value; nil: none
}

// A Table describes a table for commands.
type Table struct {
	Name   string
	TypeID uint16     // the first shard's
	New    func() any // returns a pointer to a zero item
	Parts  []Part
}

// A Part is a column or sparse data of a [Table].
type Part struct {
	Name   string
	Sparse bool
	New    func() any
}

// A Driver runs ticks on a *world.Replayer that are not in its log, for tools that change inputs.
type Driver interface {
	// SkipDigests makes the Replayer run on when the state is another than the digests in the
	// log show.
	SkipDigests()

	// Round returns the ticks in which the records of the leader's log have a digest of each shard.
	Round() int

	// Input returns the calls in the logged input of the next tick. It returns io.EOF if the log had
	// no further tick at Start, and the errors of Next of the Replayer for records.
	Input(ctx context.Context) ([][]Command, error)

	// Run runs a tick after the present state, with these calls. The Replayer needs Back or Start
	// before its Next. After an error the state is undefined.
	Run(ctx context.Context, tick uint64, seed uint64, at time.Time, calls [][]Command) error

	// Begin saves the state of Options.Init in the log of the Replayer, if it is empty. Start
	// comes next.
	Begin(ctx context.Context) error

	// WriteState writes the state as a snapshot for the beginning of a log.
	WriteState(ctx context.Context, w io.Writer) error

	// Tables returns the tables of the store.
	Tables() []Table
}
