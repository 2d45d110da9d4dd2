package store

import (
	"handloom/batch"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
	"handloom/tasks"
)

// What users need of the packages below, so that a program imports store alone.
type (
	// ID is an untyped handle.
	ID = handle.ID
	// Handle is the handle of an item of type T.
	Handle[T any] = handle.Of[T]
	// Queue records the commands of one task.
	Queue = batch.Queue
	// Counts say what became of the commands of a batch.
	Counts = batch.Counts
	// Sample is one stale command.
	Sample = batch.Sample
	// PanicError is the error of a task that panicked.
	PanicError = tasks.PanicError
	// StaleError is what Table.At panics with.
	StaleError = handlemap.StaleError
)

// Errors of the packages below; see there.
var (
	ErrFull      = handlemap.ErrFull
	ErrQueueFull = batch.ErrQueueFull
	ErrGoexit    = tasks.ErrGoexit
)

// ParseID is the inverse of [ID.String].
func ParseID(s string) (ID, error) { return handle.Parse(s) }
