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
	// Handle is the handle of an item of type T. It embeds its ID, so that h.ID is
	// the untyped one and Handle[T]{ID: id} the way back; see also Table.Handle.
	Handle[T any] = handle.Of[T]
	// Queue records the commands of one task.
	Queue = batch.Queue
	// Counts say what became of the commands of a batch.
	Counts = batch.Counts
	// Sample is one stale command.
	Sample = batch.Sample
	// PanicError is the error of a task that panicked; errors.As finds it, and
	// its Stack says where.
	PanicError = tasks.PanicError
	// SystemError is the error of a system of a [Schedule].
	SystemError = tasks.SystemError
	// Timings say how long the systems of a [Schedule] took.
	Timings = tasks.Timings
	// StaleError is what Table.At panics with.
	StaleError = handlemap.StaleError
)

var (
	// ErrFull is what a flush or an insert returns, wrapped with table and
	// figures, when MaxItems or the slots would be exceeded. Nothing has changed
	// then, and the batch is kept.
	ErrFull = handlemap.ErrFull
	// ErrQueueFull is what a pass returns when a queue of it was given more
	// commands than its limit, and what a flush returns for those of
	// [Store.Queues]; also what passes, Queues and Inbox return when the batch or
	// the inbox is at its limit. Options has the limits.
	ErrQueueFull = batch.ErrQueueFull
	// ErrGoexit is what a pass returns when a task ended its goroutine with
	// runtime.Goexit.
	ErrGoexit = tasks.ErrGoexit
	// ErrSyntax is what [ParseID] and the Unmarshal methods of handles return.
	ErrSyntax = handle.ErrSyntax
)

// ParseID is the inverse of [ID.String]; anything else is [ErrSyntax].
func ParseID(s string) (ID, error) { return handle.Parse(s) }
