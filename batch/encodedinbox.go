package batch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"handloom/internal/highwater"
	"handloom/shard/handle"
)

// EncodedInbox holds the calls of a claimed inbox. Each call is encoded when it arrives, on
// the goroutine that recorded it. It keeps no references of the values.
type EncodedInbox struct {
	batch       *Batch
	cause       error       // error of other inbox calls until Release
	tables      []*Recorder // tables at the time of Claim
	byList      []*Recorder // erase lists at the time of Claim
	attachments int         // number of attachments at the time of Claim

	// Guarded by the lock of the inbox:
	closed    error  // error of calls after Release or Close
	bytes     []byte // encoded calls, starting at at
	at        int
	calls     []arrival // arrived calls, starting at next
	next      int
	held      int // number of commands
	peak      highwater.Mark
	callsPeak highwater.Mark
}

// arrival is an encoded call and its size.
type arrival struct {
	call            *Call
	bytes, commands int
}

// maxCall is the maximum size of a call, in bytes.
const maxCall = 32 << 20

// Claim makes Inbox calls fail with cause until [EncodedInbox.Release]. It returns the
// inbox that receives the owner's calls, or nil if calls wait for a flush.
func (b *Batch) Claim(cause error) *EncodedInbox {
	x := &b.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.sealed)+len(x.arrived) > 0 {
		return nil
	}
	x.claimed = &EncodedInbox{batch: b, cause: cause, tables: slices.Clone(b.tables), byList: slices.Clone(b.byList), attachments: len(b.attachments)}
	return x.claimed
}

// Release returns the inbox to the batch. Calls that still record, and arrived calls that
// were not sealed, return err. An input that was not flushed is dropped.
func (a *EncodedInbox) Release(err error) {
	x := &a.batch.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.claimed == a {
		a.batch.input.finish()
		x.claimed = nil
	}
	a.close(err)
}

// close ends all calls with err. The caller holds the lock.
func (a *EncodedInbox) close(err error) {
	if a.closed == nil {
		a.closed = err
	}
	for _, c := range a.calls[a.next:] {
		c.call.Complete(err)
	}
	a.bytes, a.calls, a.at, a.next, a.held = nil, nil, 0, 0, 0
}

// Enter begins a call, as [Batch.Enter] does.
func (a *EncodedInbox) Enter() (Queue, error) {
	x := &a.batch.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if a.closed != nil {
		return Queue{}, a.closed
	}
	if err := a.batch.limits.inbox(a.held); err != nil {
		return Queue{}, err
	}
	return x.queue(a.batch), nil
}

// Leave ends a failed call, as [Batch.Leave] does.
func (a *EncodedInbox) Leave(q Queue) { a.batch.Leave(q) }

// AddCall ends and encodes a call, which completes when the outcome of its commands is
// known. It runs the visitors of tables on its values. Its errors are those of
// [Batch.AddCall].
func (a *EncodedInbox) AddCall(q Queue, call *Call) error {
	x, buf := &a.batch.inbox, q.buf
	overflowed := buf.overflowed()
	var encoded []byte
	var unread error
	commands, empty := buf.load().Commands, buf.empty()
	known := a.knows(buf)
	if !overflowed && !empty && known {
		encoded, unread = a.encode(buf, call)
	}
	buf.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.recycle(buf)
	switch {
	case a.closed != nil:
		return a.closed
	case overflowed:
		return a.batch.limits.overflow()
	case empty:
		call.Complete(nil)
		return nil
	case !known: // a table that was added between a Release and the next Claim
		return a.cause
	case unread != nil:
		return fmt.Errorf("a value cannot be decoded: %w", unread)
	case len(encoded) > maxCall:
		return fmt.Errorf("%w: the call has %d encoded bytes, the limit is %d", ErrQueueFull, len(encoded), maxCall)
	}
	if err := a.batch.limits.arrive(a.held, commands); err != nil {
		return err
	}
	a.held += commands
	a.bytes = append(a.bytes, encoded...)
	a.calls = append(a.calls, arrival{call, len(encoded), commands})
	return nil
}

// knows reports whether a buffer recorded only for tables and attachments that existed at
// the time of Claim.
func (a *EncodedInbox) knows(buf *buffer) bool {
	return len(buf.columns) <= len(a.tables) && len(buf.erases) <= len(a.byList) && len(buf.sets) <= a.attachments &&
		!slices.ContainsFunc(buf.all, func(ordinal int) bool { return ordinal >= len(a.tables) })
}

// encode returns the bytes of a call, valid until its buffer is recycled, and stores the
// runs of its creates in the call. It fails if the bytes cannot be decoded.
func (a *EncodedInbox) encode(buf *buffer, call *Call) ([]byte, error) {
	if buf.encoder == nil {
		buf.encoder = newEncoder()
	}
	encoded, err := buf.encoder.encode(a, buf)
	call.recorded = append(call.one[:0], buf.encoder.recorded...)
	return encoded, err
}

// recorderOf returns the recorder of the table that has the typeId of id, or nil.
func (a *EncodedInbox) recorderOf(id handle.ID) *Recorder {
	if list := a.batch.eraseList(id.TypeID()); list > 0 && list < len(a.byList) {
		return a.byList[list]
	}
	return nil
}

// Seal appends arrived calls to dst, in order, and returns dst and the calls, which are no
// longer pending. It takes at most the given number of bytes, but at least one call.
func (a *EncodedInbox) Seal(dst []byte, most int) ([]byte, []*Call) {
	a.batch.inbox.mu.Lock()
	defer a.batch.inbox.mu.Unlock()
	waiting := a.calls[a.next:]
	n, size := a.fitting(waiting, most)
	if n == 0 {
		return dst, nil
	}
	dst = append(dst, inputVersion)
	dst = binary.AppendUvarint(dst, uint64(n))
	dst = append(dst, a.bytes[a.at:a.at+size]...)
	calls := make([]*Call, n)
	for i := range calls {
		calls[i] = waiting[i].call
		a.held -= waiting[i].commands
	}
	clear(waiting[:n])
	a.next, a.at = a.next+n, a.at+size
	a.compact()
	return dst, calls
}

// fitting returns the number of calls that fit into most bytes, at least one, and their
// size.
func (a *EncodedInbox) fitting(calls []arrival, most int) (n, size int) {
	const head = 1 + binary.MaxVarintLen32
	for _, c := range calls {
		if n > 0 && head+size+c.bytes > most {
			break
		}
		n++
		size += c.bytes
	}
	return n, size
}

// compact frees the room of sealed calls.
func (a *EncodedInbox) compact() {
	switch {
	case a.next == len(a.calls):
		a.bytes, a.calls = highwater.Trim(&a.peak, a.bytes), highwater.Trim(&a.callsPeak, a.calls)
	case a.at > len(a.bytes)/2:
		a.bytes = slices.Delete(a.bytes, 0, a.at)
		a.calls = slices.Delete(a.calls, 0, a.next)
	default:
		return
	}
	a.at, a.next = 0, 0
}
