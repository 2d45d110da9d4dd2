package world

import (
	"errors"
	"fmt"
)

var (
	// ErrNotLeader means that this World does not lead the log. Submit and Handoff return it,
	// wrapped; the call is never applied. After a halt the message has the cause.
	ErrNotLeader = errors.New("another world is the leader")

	// ErrTick means that a tick failed or panicked. The World has halted. The record stays in
	// the log, so every World halts, and [Replay] reaches the tick before. The cause is in a
	// [*TickError].
	ErrTick = errors.New("the tick failed")

	// ErrDiverged means that the state differs from the leader's, or from an earlier run: the
	// code changed without Options.Version, or the tick is not a function of state and input. The
	// World has halted. The place is in a [*DivergedError].
	ErrDiverged = errors.New("the state differs from the leader's")

	// ErrVersion means that log or snapshot have another Options.Version, other tables, or,
	// unless Options.Portable, another architecture or version of Go. See Options.Wait.
	ErrVersion = errors.New("the log has another version")

	// ErrExpired means that a request began so long ago that an earlier answer to it may be
	// forgotten. The repetition does not count; whether an earlier one did is unknown.
	ErrExpired = errors.New("the answer has expired")

	// ErrCorrupt means that a record is invalid or does not follow its predecessor, or that
	// there is no snapshot before the first record.
	ErrCorrupt = errors.New("the log is corrupt")
)

// A TickError is a tick that failed.
type TickError struct {
	Tick uint64
	At   uint64 // position of its record; 0 if the log has none
	Err  error  // the error of Options.Tick; a [*store.PanicError] if it panicked
}

func (e *TickError) Error() string {
	return fmt.Sprintf("world: tick %d (%s): %v: %v", e.Tick, place(e.At), ErrTick, e.Err)
}

// Unwrap returns [ErrTick] and the cause.
func (e *TickError) Unwrap() []error { return []error{ErrTick, e.Err} }

// A DivergedError names the first tick and shard that are seen to differ.
type DivergedError struct {
	Tick  uint64
	At    uint64 // position of the record with the other digest; 0: Shadow found it before a record
	Place string // the table and its shard, or the number of flushes if that alone differs
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("world: after tick %d (%s): %s: %v; the code changed without Options.Version, or the tick is not a function of state and input: then replay the log since the newest snapshot with 1, 2 and 8 workers", e.Tick, place(e.At), e.Place, ErrDiverged)
}

// Unwrap returns [ErrDiverged].
func (e *DivergedError) Unwrap() error { return ErrDiverged }

func place(at uint64) string {
	if at == 0 {
		return "no record"
	}
	return fmt.Sprint("record ", at)
}

func corrupt(at uint64, format string, args ...any) error {
	return fmt.Errorf("world: record %d: %w: %w", at, ErrCorrupt, fmt.Errorf(format, args...))
}
