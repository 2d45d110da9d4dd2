package batch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"handloom/handle"
	"handloom/internal/highwater"
)

// EncodedInbox holds the calls of a claimed inbox. Their goroutines encode them.
//
// calls[i] has the number first+i. A sweep, which removes withdrawn calls, numbers the
// others again.
type EncodedInbox struct {
	batch       *Batch
	cause       error       // error of other calls until Release
	tables      []*Recorder // at the time of Claim
	byList      []*Recorder
	attachments int

	arrived chan struct{} // has a value after a call has arrived

	// Guarded by the lock of the inbox:
	closed    error  // after Release or Close
	bytes     []byte // calls from at on
	at        int
	calls     []arrival // calls from next on
	next      int
	first     int       // number of calls[0]
	withdrawn withdrawn // of calls from next on
	held      int       // commands
	peak      highwater.Mark
	callsPeak highwater.Mark
}

type arrival struct {
	call            *Call // nil if withdrawn
	bytes, commands int
}

// bytes
const maxCall = 32 << 20

// Claim makes calls of the inbox fail with cause until [EncodedInbox.Release], and returns
// the inbox of the owner, or nil if calls wait for a flush.
func (b *Batch) Claim(cause error) *EncodedInbox {
	x := &b.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.sealed)+len(x.arrived) > 0 {
		return nil
	}
	x.claimed = &EncodedInbox{batch: b, cause: cause, tables: slices.Clone(b.tables), byList: slices.Clone(b.byList), attachments: len(b.attachments), arrived: make(chan struct{}, 1)}
	return x.claimed
}

// Release ends the claim. Calls that still record or were not sealed return err, and a
// waiting input is dropped.
func (a *EncodedInbox) Release(err error) {
	x := &a.batch.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.claimed == a {
		// An input of the old owner must not reach a flush of the next.
		a.batch.input.finish()
		x.claimed = nil
	}
	a.close(err)
}

// close completes the waiting calls with err and forgets them. The caller holds the lock.
func (a *EncodedInbox) close(err error) {
	if a.closed == nil {
		a.closed = err
	}
	for _, c := range a.calls[a.next:] {
		if c.call != nil {
			c.call.Complete(err)
		}
	}
	a.first += len(a.calls)
	a.bytes, a.calls, a.at, a.next, a.held, a.withdrawn = nil, nil, 0, 0, 0, withdrawn{}
}

// Enter begins a call.
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

// Leave drops a failed call.
func (a *EncodedInbox) Leave(q Queue) { a.batch.Leave(q) }

// AddCall ends and encodes a call, running visitors on its values. It fails as
// [Batch.AddCall] does.
func (a *EncodedInbox) AddCall(q Queue, call *Call) error {
	x, buf := &a.batch.inbox, q.buf
	// Encoding runs before the lock is taken: other calls do not wait for a large one.
	overflowed := buf.overflowed()
	var encoded []byte
	var unread error
	commands, empty := buf.load().Commands, buf.empty()
	// The encoder reads arrays of the claim, so it never sees a table that another goroutine
	// registers.
	known := a.knows(buf)
	if !overflowed && !empty && known {
		encoded, unread = a.encode(buf, call)
	}
	buf.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	// The bytes alias the encoder of the buffer, so they are copied before this.
	defer x.recycle(buf)
	switch {
	case a.closed != nil:
		return a.closed
	case overflowed:
		return a.batch.limits.overflow()
	case empty:
		call.Complete(nil)
		return nil
	case !known: // a table newer than the claim
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
	call.number = a.first + len(a.calls)
	a.calls = append(a.calls, arrival{call, len(encoded), commands})
	a.signal()
	return nil
}

// signal never blocks: one value is enough for any number of calls.
func (a *EncodedInbox) signal() {
	select {
	case a.arrived <- struct{}{}:
	default:
	}
}

// Arrived returns a channel with one value while calls that arrived since the last value, or
// did not fit the last Seal, may wait.
func (a *EncodedInbox) Arrived() <-chan struct{} { return a.arrived }

// knows reports whether all tables, lists and attachments of a queue existed at the time of
// Claim.
func (a *EncodedInbox) knows(buf *buffer) bool {
	return len(buf.tables) <= len(a.tables) && len(buf.erases) <= len(a.byList) && len(buf.sets) <= a.attachments &&
		!slices.ContainsFunc(buf.all, func(ordinal int) bool { return ordinal >= len(a.tables) })
}

// encode returns the bytes of a call, valid until its buffer is recycled, or an error if
// they cannot be decoded.
func (a *EncodedInbox) encode(buf *buffer, call *Call) ([]byte, error) {
	// Only calls of a claim need an encoder, and it stays with the buffer.
	if buf.encoder == nil {
		buf.encoder = new(encoder)
		buf.encoder.renaming.init(buf.encoder.name)
	}
	encoded, err := buf.encoder.encode(a, buf)
	// The encoder reuses its list.
	call.recorded = append(call.one[:0], buf.encoder.recorded...)
	return encoded, err
}

// recorderOf returns the table of a handle, or nil if the table is unknown or newer than
// the claim.
func (a *EncodedInbox) recorderOf(id handle.ID) *Recorder {
	if list := a.batch.eraseList(id.TypeID()); list > 0 && list < len(a.byList) {
		return a.byList[list]
	}
	return nil
}

// Seal appends the bytes of arrived calls to dst, in order, and returns dst and the calls:
// at most maxBytes, but at least one call.
func (a *EncodedInbox) Seal(dst []byte, maxBytes int) ([]byte, []*Call) {
	a.batch.inbox.mu.Lock()
	defer a.batch.inbox.mu.Unlock()
	n := a.fitting(maxBytes)
	calls := make([]*Call, 0, n)
	if n > 0 {
		dst = append(dst, inputVersion)
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	// Withdrawn calls after the last one that fits go with it, so that no empty call waits.
	for a.next < len(a.calls) && (len(calls) < n || a.calls[a.next].call == nil) {
		c := &a.calls[a.next]
		if c.call == nil {
			a.withdrawn.remove(c)
		} else {
			dst = append(dst, a.bytes[a.at:a.at+c.bytes]...)
			calls = append(calls, c.call)
			// The limit of the inbox counts only calls that wait for a Seal.
			a.held -= c.commands
		}
		a.next, a.at = a.next+1, a.at+c.bytes
		// The array stays; it must not keep the call.
		*c = arrival{}
	}
	a.compact()
	if len(a.calls) > 0 {
		a.signal()
	}
	return dst, calls
}

// fitting returns the number of calls of the next Seal: at least one, if one waits.
func (a *EncodedInbox) fitting(maxBytes int) (n int) {
	size := 1 + binary.MaxVarintLen32
	for _, c := range a.calls[a.next:] {
		if c.call == nil {
			continue
		}
		if size += c.bytes; n > 0 && size > maxBytes {
			break
		}
		n++
	}
	return n
}

// compact removes sealed calls. It moves bytes only if at least as many have been sealed
// since, so it takes amortized O(1) time per byte.
func (a *EncodedInbox) compact() {
	switch {
	case a.next == len(a.calls):
		a.first += a.next
		a.bytes, a.calls = highwater.Trim(&a.peak, a.bytes), highwater.Trim(&a.callsPeak, a.calls)
	case a.at > len(a.bytes)/2:
		a.first += a.next
		a.bytes = slices.Delete(a.bytes, 0, a.at)
		a.calls = slices.Delete(a.calls, 0, a.next)
	default:
		return
	}
	a.at, a.next = 0, 0
}
