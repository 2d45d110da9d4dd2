package world

import (
	"errors"
	"fmt"
)

var (
	// ErrNotLeader is what Submit and Handoff return, wrapped, of a World that another
	// one has taken over from: nothing was applied, nor will be. A World that has halted
	// returns it with the text of the halt.
	ErrNotLeader = errors.New("another world owns the log")

	// ErrTick says, in a [*TickError], that a tick failed or panicked. Its record is in
	// the log, and it fails on every other world as well: the World has halted.
	ErrTick = errors.New("the tick failed")

	// ErrDiverged says, in a [*DivergedError], that the state is not that of the owner
	// of the log, or not the one that the same record led to before: the program is no
	// function of state and input. The World has halted.
	ErrDiverged = errors.New("the state is another one than the owner's")

	// ErrVersion says that the records, or the snapshot, are those of another program:
	// another Options.Version, other tables, or another architecture or version of Go,
	// unless Options.Portable.
	ErrVersion = errors.New("the log is of another program")

	// ErrCorrupt says that a record does not follow the one before it, is no record, or
	// that there is no snapshot that the records go on from.
	ErrCorrupt = errors.New("the log is corrupt")
)

// TickError says which tick failed, and why.
type TickError struct {
	Tick uint64
	At   uint64 // position of its record
	Err  error  // what Options.Tick returned; of a panic a [*store.PanicError]
}

func (e *TickError) Error() string {
	return fmt.Sprintf("world: tick %d (record %d): %v: %v", e.Tick, e.At, ErrTick, e.Err)
}

// Unwrap returns [ErrTick] and the cause.
func (e *TickError) Unwrap() []error { return []error{ErrTick, e.Err} }

// DivergedError says where the state differs, behind which tick.
type DivergedError struct {
	Tick  uint64
	At    uint64 // position of the record that tells
	Table string
	Shard int // of the table
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("world: behind tick %d (record %d tells): table %q, shard %d: %v; replay the log since the newest snapshot with 1, 2 and 8 workers", e.Tick, e.At, e.Table, e.Shard, ErrDiverged)
}

// Unwrap returns [ErrDiverged].
func (e *DivergedError) Unwrap() error { return ErrDiverged }

func corrupt(at uint64, format string, args ...any) error {
	return fmt.Errorf("world: record %d: %w: %w", at, ErrCorrupt, fmt.Errorf(format, args...))
}
