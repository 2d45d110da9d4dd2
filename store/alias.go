package store

import (
	"handloom/batch"
	"handloom/handle"
	"handloom/store/internal/schedule"
	"handloom/tasks"
)

// These names of inner packages let programs import only store. go doc shows no methods
// and fields of an alias, so each comment lists them.
type (
	// ID is an untyped handle: 64 bits that name one item. It is comparable and can be a
	// map key. The zero value is the null handle and names nothing. As numbers, IDs are
	// ordered by provisional bit, typeId, generation and slot. [ParseID] reads the text
	// form, which also works in JSON and as a JSON key.
	//
	//   - TypeID() uint16: the number of the shard that issued it, 0 to 32767
	//   - Slot() uint32: the position in the shard; fixed while the item lives
	//   - Generation() uint16: the number of times the slot had been issued, 1 to 65535
	//   - IsZero() bool: whether it is the null handle
	//   - IsProvisional() bool: whether its item is recorded and not yet flushed
	//   - String() string: the text form, type:slot.generation, such as "7:42.3" or
	//     "~7:42.3"
	//   - MarshalText() ([]byte, error): the text form; the error is always nil
	//   - UnmarshalText(text []byte) error: sets it from the text form, or
	//     [handle.ErrSyntax]
	ID = handle.ID

	// Handle is the handle of an item of type T; handles of different types do not mix.
	// Its ID has further methods, such as h.ID.IsZero(). Handle[T]{ID: id} converts an ID
	// without a check, Table.Handle with one.
	//
	// A handle does not name its store: a table of another store with the same typeId and
	// item type accepts it, and finds another item or none. If handles of two stores may
	// meet, register tables with TypeID.
	//
	//   - ID [ID]: the untyped handle
	//   - String() string: the text form, such as "7:42.3"
	//   - MarshalText() ([]byte, error): the text form; the error is always nil
	//   - UnmarshalText(text []byte) error: sets it from the text form, or
	//     [handle.ErrSyntax]
	Handle[T any] = handle.Of[T]

	// PanicError is the error of a task that panicked. The verbs %v and %s print the
	// value and the first function of the program, with file and line; %+v adds the
	// stack.
	//
	//   - Task int: the task that panicked
	//   - Value any: the value of the panic
	//   - Stack []byte: as debug.Stack formats it
	//   - Error() string: in one line
	//   - Format(s fmt.State, verb rune): for package fmt
	//   - Unwrap() error: the value, if it is an error
	PanicError = tasks.PanicError

	// SystemError is the error of a system of a [Schedule] or its If.
	//
	//   - System string: the name
	//   - Err error: what Run returned, a [*PanicError], or [ErrGoexit]
	//   - Error() string: both in one line
	//   - Format(s fmt.State, verb rune): for package fmt; %+v also prints the stack of a
	//     panic
	//   - Unwrap() error: Err
	SystemError = schedule.SystemError

	// StaleError is the panic value of Table.At.
	//
	//   - Handle ID: the handle, which names no item
	//   - Held ID: the handle of the item in its slot, if any
	//   - TypeID uint16: the typeId of the map
	//   - Error() string: both handles and the fix
	StaleError = handle.StaleError
)

var (
	// ErrFull means that a flush or insert would exceed MaxItems or the slots. The error
	// names the table and the figures. Nothing has changed, and the batch is kept. A
	// Submit that does not fit fails alone and is dropped.
	ErrFull = handle.ErrFull
	// ErrQueueFull means that a queue of a pass, or a queue of [Store.Queues] at a flush,
	// got more commands than its limit. Passes, Queues and Inbox also return it when the
	// batch or the inbox is full. Options has the limits.
	ErrQueueFull = batch.ErrQueueFull
	// ErrGoexit means that a task of a pass called runtime.Goexit.
	ErrGoexit = tasks.ErrGoexit
)

// ParseID is the inverse of [ID.String]. It returns [handle.ErrSyntax] for any other
// text.
func ParseID(s string) (ID, error) { return handle.Parse(s) }
