package store

import (
	"handloom/batch"
	"handloom/internal/schedule"
	"handloom/shard/handle"
	"handloom/tasks"
)

// What users need of the packages below, so that a program imports store alone.
// go doc shows no methods and fields of an alias, so each comment lists them.
type (
	// ID is an untyped handle: 64 bits that name one item, comparable and good as a
	// map key. The zero value is the null handle, which names nothing. As numbers, IDs are in
	// the order of provisional bit, typeId, generation and slot. The text form works in JSON,
	// also as a key, and [ParseID] reads it.
	//
	//   - TypeID() uint16: the number of the shard that issued it, 0 to 32767
	//   - Slot() uint32: the position in the shard; it never moves while the item lives
	//   - Generation() uint16: how often the slot had been issued, 1 to 65535
	//   - IsZero() bool: whether it is the null handle
	//   - IsProvisional() bool: whether it names an item that is recorded and not yet flushed
	//   - String() string: the text form, type:slot.generation, such as "7:42.3" or "~7:42.3"
	//   - MarshalText() ([]byte, error): the text form; the error is always nil
	//   - UnmarshalText(text []byte) error: sets it from the text form, or [handle.ErrSyntax]
	ID = handle.ID

	// Handle is the handle of an item of type T, which the compiler keeps apart from
	// those of other types. What it can tell its ID tells, such as h.ID.IsZero();
	// Handle[T]{ID: id} is the way back from an untyped one, see also Table.Handle.
	//
	// A handle holds no number of its store: a table of another store with the same typeId
	// and item type takes it, and finds another item or none. Register tables with
	// TypeID where handles of two stores may meet.
	//
	//   - ID [ID]: the handle, untyped
	//   - String() string: the text form, such as "7:42.3"
	//   - MarshalText() ([]byte, error): the text form; the error is always nil
	//   - UnmarshalText(text []byte) error: sets it from the text form, or [handle.ErrSyntax]
	Handle[T any] = handle.Of[T]

	// PanicError is the error of a task that panicked. The verbs %v and %s name the
	// value and the first function of the program's own code, with file and line;
	// %+v prints the stack after it. errors.As finds it in an error that wraps it.
	//
	//   - Task int: the task that panicked
	//   - Value any: what it panicked with
	//   - Stack []byte: as debug.Stack formats it
	//   - Error() string: in one line
	//   - Format(s fmt.State, verb rune): for package fmt
	//   - Unwrap() error: the value, if it is an error
	PanicError = tasks.PanicError

	// SystemError is the error of a system of a [Schedule], or of its condition.
	//
	//   - System string: the name
	//   - Err error: what Run returned, a [*PanicError], or [ErrGoexit]
	//   - Error() string: both in one line
	//   - Format(s fmt.State, verb rune): for package fmt; %+v prints the stack of a panic, too
	//   - Unwrap() error: Err
	SystemError = schedule.SystemError

	// StaleError is what Table.At panics with.
	//
	//   - Handle ID: which names no item
	//   - Held ID: what its slot holds instead
	//   - TypeID uint16: of the handles that the map issues
	//   - Error() string: both, and what to do
	StaleError = handle.StaleError
)

var (
	// ErrFull is what a flush or an insert returns, wrapped with table and
	// figures, when MaxItems or the slots would be exceeded. Nothing has changed
	// then, and the batch is kept. A call of Submit that does not fit returns it
	// alone, and is dropped.
	ErrFull = handle.ErrFull
	// ErrQueueFull is what a pass returns when a queue of it was given more
	// commands than its limit, and what a flush returns for those of
	// [Store.Queues]; also what passes, Queues and Inbox return when the batch or
	// the inbox is at its limit. Options has the limits.
	ErrQueueFull = batch.ErrQueueFull
	// ErrGoexit is what a pass returns when a task ended its goroutine with
	// runtime.Goexit.
	ErrGoexit = tasks.ErrGoexit
)

// ParseID is the inverse of [ID.String]; anything else is [handle.ErrSyntax].
func ParseID(s string) (ID, error) { return handle.Parse(s) }
