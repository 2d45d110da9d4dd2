package batch

import (
	"encoding/binary"
	"fmt"
	"slices"

	"handloom/internal/highwater"
	"handloom/shard/handle"
)

// EncodedInbox are the calls of an inbox that somebody has claimed. Each becomes bytes when
// it arrives, on the goroutine that recorded it: what its values refer to is not kept.
type EncodedInbox struct {
	batch       *Batch
	why         error       // what calls of the inbox return meanwhile
	tables      []*Recorder // of the batch, when it was claimed
	byList      []*Recorder // likewise
	attachments int         // likewise

	// Under the lock of the inbox.
	closed    error  // what calls return that arrive too late
	bytes     []byte // of the calls from at on
	at        int
	calls     []arrival // from next on
	next      int
	held      int // commands
	peak      highwater.Mark
	callsPeak highwater.Mark
}

// arrival is a call that became so many bytes.
type arrival struct {
	call            *Call
	bytes, commands int
}

// maxCall is the most bytes of a call.
const maxCall = 32 << 20

// Claim has calls of the inbox return why, until [EncodedInbox.Release], and returns where those
// arrive that are for who claims it. It returns nil when calls wait for a flush.
func (b *Batch) Claim(why error) *EncodedInbox {
	x := &b.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.sealed)+len(x.arrived) > 0 {
		return nil
	}
	x.claimed = &EncodedInbox{batch: b, why: why, tables: slices.Clone(b.tables), byList: slices.Clone(b.byList), attachments: len(b.attachments)}
	return x.claimed
}

// Release gives the inbox back. Calls that arrived and were not sealed return err, and so
// does what still records. The input of a tick that was not flushed is dropped.
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

// close is called under the lock.
func (a *EncodedInbox) close(err error) {
	if a.closed == nil {
		a.closed = err
	}
	for _, of := range a.calls[a.next:] {
		of.call.Complete(err)
	}
	a.bytes, a.calls, a.at, a.next, a.held = nil, nil, 0, 0, 0
}

// Enter is what [Batch.Enter] does.
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

// Leave is what [Batch.Leave] does.
func (a *EncodedInbox) Leave(q Queue) { a.batch.Leave(q) }

// AddCall ends a call, which is settled when it is known what became of its commands. It
// runs the visitors of tables, on their values. Its errors are those of [Batch.Arrive].
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
	case !known: // a table that came when this was released, and claimed again
		return a.why
	case unread != nil:
		return fmt.Errorf("a value cannot be read back: %w", unread)
	case len(encoded) > maxCall:
		return fmt.Errorf("%w: the call became %d bytes; the most are %d", ErrQueueFull, len(encoded), maxCall)
	}
	if err := a.batch.limits.arrive(a.held, commands); err != nil {
		return err
	}
	a.held += commands
	a.bytes = append(a.bytes, encoded...)
	a.calls = append(a.calls, arrival{call, len(encoded), commands})
	return nil
}

// knows reports whether what a buffer recorded is for tables that there were.
func (a *EncodedInbox) knows(buf *buffer) bool {
	return len(buf.columns) <= len(a.tables) && len(buf.erases) <= len(a.byList) && len(buf.sets) <= a.attachments &&
		!slices.ContainsFunc(buf.all, func(ordinal int) bool { return ordinal >= len(a.tables) })
}

// encode returns the bytes of a call, good until its buffer is recycled, and has the call
// note its creates. It fails when they cannot be read back.
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

// Seal appends the calls that have arrived to dst, in their order, up to so many bytes
// and one whole call at least, and returns dst and the calls, which wait no more.
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

// fitting returns how many of the calls fit into so many bytes, one at least, and the
// bytes that they have.
func (a *EncodedInbox) fitting(calls []arrival, most int) (n, size int) {
	const head = 1 + binary.MaxVarintLen32
	for _, of := range calls {
		if n > 0 && head+size+of.bytes > most {
			break
		}
		n++
		size += of.bytes
	}
	return n, size
}

// compact gives the room of what was sealed to what arrives.
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
