package entrance

import (
	"context"
	"errors"
)

// A Store is the entrance of a *store.Store. Queue, Receipt and Writer are store.Queue,
// *store.Receipt and *store.Writer.
type Store[Queue, Receipt, Writer any] struct {
	// OpenClaim gives the caller the sole right to change the store until Release. Readers
	// continue.
	//
	// It waits for the phase that is open. It fails with store.ErrPhase inside a phase, while
	// the store has another Claim, and while commands or calls of the inbox wait for a flush.
	// It fails with store.ErrSnapshot when the items of a table cannot become bytes because
	// they hold pointers, interfaces, functions or channels: the error names each such table
	// and field.
	OpenClaim func(ctx context.Context) (Claim[Queue, Receipt, Writer], error)

	// NewProbe makes the Probe of a store without one. It fails with store.ErrPhase while a
	// phase is open.
	NewProbe func() (Probe, error)

	// Pending returns the number of commands that wait for a flush. Only the goroutine that
	// flushes calls it.
	Pending func() int
}

// ErrInput means that no Seal of a store with the same tables gave the bytes of an Unseal. The
// error of Unseal wraps it with the reason.
var ErrInput = errors.New("not an input of this store")

// Claim is the sole right to change a store, for a driver that logs its input.
//
// While it is held, nobody else may flush, write or record: Write, passes, Flush, Run of a
// schedule, Checkpoint, Rollback, Load, Inbox, Submit, Queues, Discard, Register, AddColumn
// and Close fail with store.ErrPhase, except phases with the context of the Claim. Anybody
// may call Read, Reduce, Digest, Verify, Snapshot and ReadCheckpoint. Inside a tick Rollback
// and Load fail with store.ErrPhase, too.
//
// Users of the driver call Submit of the Claim, and the driver makes ticks of the calls:
//
//	input, calls := c.Seal(nil, 1<<20) // and appends input to a log
//	err := c.Hold(ctx, func(ctx context.Context, w *store.Writer) error {
//		c.ResetChanges()
//		if err := c.Unseal(ctx, input, calls); err != nil {
//			return err
//		}
//		return errors.Join(tick(ctx, w), c.EndFrame(ctx))
//	})
//	calls.Done(number, err)
//
// A store with the same tables, state and bytes, with calls nil, reaches the same state:
// both stores record the calls again from the bytes.
//
// A Claim has one driver, on one goroutine at a time; any goroutine may call Submit.
type Claim[Queue, Receipt, Writer any] interface {
	// Release ends the claim. Others may change the store again, and phases with the
	// context of the claim are ordinary phases. Calls of Submit that were not sealed return
	// store.ErrDiscarded, and input that was not flushed is dropped. The driver calls it
	// between ticks. Only the first call has an effect.
	Release()

	// Context returns ctx for phases of the driver. Made from the context of a Write it is
	// for the driver inside that Write, who may call Rollback there: to run a tick once in
	// advance, for example.
	Context(ctx context.Context) context.Context

	// Submit takes commands from outside of the ticks, as Submit of the store does, and
	// returns after [Calls.Done]: with a receipt that has the tick and the handles of the
	// creates of the call, or with the error of Done. The functions of the calls return in
	// the order of the calls.
	//
	// The recorded commands become bytes before anybody waits: the caller may reuse memory
	// that its values refer to when Submit returns, with or without an error. A provisional
	// handle from another queue is stale, in values as well. A call of more than 32 MiB is
	// store.ErrQueueFull. A call that a flush drops is store.ErrFull; nothing of it is
	// applied.
	//
	// Any number of goroutines may call it, except the goroutine of the driver: with the
	// context of a phase or of the claim it is store.ErrPhase. It fails as Submit of the
	// store does, with nothing of the call applied, or with store.ErrUncertain when ctx ends
	// after the call is sealed. Before the call is sealed, it fails with the cause of ctx when
	// ctx ends, store.ErrDiscarded when the claim is released, store.ErrClosed when the store
	// is closed, and store.ErrBroken when the store is broken; the call is not applied.
	// life ends calls as ctx does; its values do not count. It is the driver's.
	Submit(ctx, life context.Context, f func(q Queue) error) (Receipt, error)

	// Arrived returns a channel with one value while calls that arrived since the last value,
	// or did not fit the last Seal, may wait. Only the driver receives from it.
	Arrived() <-chan struct{}

	// Seal appends the calls that have arrived to b, in their order and as bytes, and
	// returns the result: calls of up to maxBytes bytes in all, or one longer call. The
	// other calls wait for the next Seal. It appends nothing when no call has arrived. The
	// bytes are the whole input of a tick, here and wherever the tick is run again; the
	// calls wait until their Done.
	//
	// It costs a copy of the bytes, and waits only for calls that arrive at that moment.
	Seal(b []byte, maxBytes int) (input []byte, calls Calls)

	// Unseal makes the result of Seal the input of a tick. The next flush applies its calls,
	// after the commands of passes before that flush, and without any call that arrives
	// later. Limits of queues and batches do not refuse it. calls are the calls of the
	// input, to learn the handles of their creates, or nil where the tick is run again. The
	// bytes must not change until that flush. A store.Report counts the calls as one call of
	// the inbox, unless the flush drops some: a call that does not fit is dropped whole, as
	// for Inbox of the store, and its Submit returns the error.
	//
	// It fails with [ErrInput], and keeps nothing, when the bytes are not the result of a
	// Seal of a store with the same tables, when calls are of other bytes, and when the
	// input before was not flushed. It does not panic for any bytes, and its memory is at
	// most a multiple of them that the tables decide. It returns the *store.PanicError of a
	// Links function.
	//
	// Unseal joins the Write of its context, or holds the store alone. It takes time in
	// proportion to the bytes (op=claim/step=put).
	Unseal(ctx context.Context, input []byte, calls Calls) error

	// InputHas reports whether an input that waits for its flush has items of a table for whose
	// name is returns true. It takes O(tables) time.
	InputHas(is func(table string) bool) bool

	// Decode returns the commands of the calls of an input, and Encode the input of calls, or nil
	// if there is no command. Both keep nothing. Decode fails as Unseal does, and Encode for a
	// command without a fitting table or value.
	Decode(ctx context.Context, input []byte) ([][]Command, error)
	Encode(calls [][]Command) (input []byte, err error)

	// Tables returns the tables that a [Command] numbers.
	Tables() []Table

	// Schema returns a text of everything that must be equal wherever a tick is run again:
	// names, typeIds, item types and options of the tables, in the order of registration,
	// the limits of queues and batches, and Changes and Links of columns and sparse data.
	// Tables that differ in one of these have different texts.
	Schema() string

	// ResetChanges empties everything that a program can see of the last frame: Created, Erased
	// and Written of tables, and Written of columns. Provisional handles of the frame
	// resolve no more. Snapshots do not contain them: without ResetChanges a tick
	// that reads them would reach another state when it runs again from a snapshot.
	//
	// It takes O(shards) time. The driver calls it in the Write of a tick, before the tick;
	// elsewhere it panics.
	ResetChanges()

	// Hold holds the store alone while fn runs, as a Frame of the driver that does not flush.
	Hold(ctx context.Context, fn func(ctx context.Context, w Writer) error) error

	// EndFrame flushes as the end of a Frame does, ends the frame and begins the next one, inside
	// Hold: a driver may run a tick twice, with a Rollback in between, and readers see neither.
	// If an Insert failed before, or the flush fails, it returns that error and the frame
	// continues.
	EndFrame(ctx context.Context) error

	// DigestShard returns the hash of the shard with a typeId, or 0 if no table has the
	// typeId. Its cost is in proportion to the shard. It may be called where DigestTables of
	// the store may be.
	DigestShard(typeID uint16) uint64
}

// Calls are calls of Submit of a [Claim] that were sealed.
type Calls interface {
	// Len returns the number of the calls.
	Len() int

	// Done makes the calls return: they were applied in the tick, or err is their outcome. Only the
	// first call has an effect.
	Done(tick uint64, err error)
}

// Len is Len of c, which may be nil.
func Len(c Calls) int {
	if c == nil {
		return 0
	}
	return c.Len()
}

// Done is Done of c, which may be nil.
func Done(c Calls, tick uint64, err error) {
	if c != nil {
		c.Done(tick, err)
	}
}
