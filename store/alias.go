package store

import (
	"handloom/batch"
	"handloom/internal/schedule"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
	"handloom/tasks"
)

// What users need of the packages below, so that a program imports store alone.
// go doc shows no methods and fields of an alias, so each comment lists them.
type (
	// ID is an untyped handle: 64 bits that name one item, comparable and good as a
	// map key. The zero value is the null handle, which names nothing. Text and
	// binary forms make it work in JSON, also as a key, and [ParseID] reads it.
	//
	//   - TypeID() uint16: the number of the shard that issued it, 0 to 32767
	//   - Slot() uint32: the position in the shard; it never moves while the item lives
	//   - Generation() uint16: how often the slot had been issued, 1 to 65535
	//   - IsZero() bool: whether it is the null handle
	//   - IsProvisional() bool: whether it names an item that is recorded and not yet flushed
	//   - Compare(other ID) int: order by provisional bit, typeId, generation and slot
	//   - String() string: the text form, type:slot.generation, such as "7:42.3" or "~7:42.3"
	//   - AppendText(b []byte) ([]byte, error): the text form after b; the error is always nil
	//   - MarshalText() ([]byte, error): the text form; the error is always nil
	//   - UnmarshalText(text []byte) error: sets it from the text form, or [ErrSyntax]
	//   - AppendBinary(b []byte) ([]byte, error): 8 bytes after b, which sort as handles do; the error is always nil
	//   - MarshalBinary() ([]byte, error): the 8 bytes; the error is always nil
	//   - UnmarshalBinary(data []byte) error: sets it from the 8 bytes, or [ErrSyntax]
	//   - LogValue() slog.Value: the parts as a group, for log/slog
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
	//   - UnmarshalText(text []byte) error: sets it from the text form, or [ErrSyntax]
	Handle[T any] = handle.Of[T]

	// Counts say what became of the commands of a batch. Each command is in exactly
	// one of the first eight:
	//
	//   - Created int: items that live now
	//   - Erased int: items that lived before; in the line of optional data, items that an Unset took it from
	//   - Put int: items that were replaced, created ones included; in the line of a column or optional data, elements that were set
	//   - Superseded int: puts that a later put to the same item replaced; and so with Sets and Unsets
	//   - Dropped int: puts to an item that was erased in the same batch; and so with Sets and Unsets
	//   - Redundant int: erases of an item that another command erased already; Unsets of what no item had
	//   - Stale int: commands whose handle named no item
	//   - CancelledOut int: creates erased in the same batch, and the first erase of each
	//   - Dangling int: provisional handles in values whose target was cancelled or unknown; now null
	//   - Depleted int: slots that used their last generation
	//
	// and the methods
	//
	//   - Commands() int: the sum of the first eight
	//   - Add(o Counts): adds those of o
	//   - String() string: those that are not 0 in one line, such as "3 created 1 erased"
	//   - LogValue() slog.Value: those that are not 0 as a group, for log/slog
	Counts = batch.Counts

	// Sample is one stale command: what it named and where it was recorded.
	//
	//   - Handle ID: what it named
	//   - TypeID uint16: of the shard that did not find the item
	//   - Kind: erase, put, set or unset, as a number with String, MarshalText and UnmarshalText
	//   - Pass int, Task int: the key of the queue; calls of the inbox come after all passes
	//   - Sequence int: position among the queue's commands of that kind to that typeId
	//   - Column string: of a set or unset, the name of the column or optional data
	//   - Compare(o Sample) int: order by typeId, kind, column, key and sequence
	//   - String() string: in words, such as "erase of 7:42.3 by task 2 in pass 0 (typeId 7, sequence 5)"
	Sample = batch.Sample

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

	// Timings say how long the systems of a [Schedule] took: a slice with an element
	// for each, in the order of registration.
	//
	//   - String() string: a line for each system
	Timings = schedule.Timings

	// StaleError is what Table.At panics with.
	//
	//   - Handle ID: which names no item
	//   - Held ID: what its slot holds instead
	//   - TypeID uint16: of the handles that the map issues
	//   - Error() string: both, and what to do
	StaleError = handlemap.StaleError
)

var (
	// ErrFull is what a flush or an insert returns, wrapped with table and
	// figures, when MaxItems or the slots would be exceeded. Nothing has changed
	// then, and the batch is kept. A call of Submit that does not fit returns it
	// alone, and is dropped.
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
