package batch

import (
	"slices"
	"sync"
	"sync/atomic"

	"handloom/internal/highwater"
)

// inbox takes commands from goroutines outside of passes. Its lock guards the list of
// calls.
type inbox struct {
	waiting atomic.Int64 // arrived calls that are not flushed

	mu          sync.Mutex
	closed      error
	claimed     *EncodedInbox
	sealed      []*buffer // in order of arrival; only the flushing goroutine changes it
	arrived     []*buffer
	free        []*buffer
	held        Load // of sealed and arrived
	idle        int  // not used in this period
	flushes     int  // of this period; only the flushing goroutine changes it
	peak        highwater.Mark
	arrivedPeak highwater.Mark
}

// Enter begins a call of the inbox and returns its queue. Any goroutine may call it. It
// fails with [ErrQueueFull] at the limits of the inbox or the batch, or with the error of
// [Batch.Close].
func (b *Batch) Enter() (Queue, error) {
	x := &b.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.refuses(); err != nil {
		return Queue{}, err
	}
	if err := b.limits.inbox(x.held.Commands); err != nil {
		return Queue{}, err
	}
	load := b.ended.load()
	load.add(x.held)
	if err := b.limits.admit(load); err != nil {
		return Queue{}, err
	}
	return x.queue(b), nil
}

// refuses returns the reason for which calls are refused, or nil. The caller holds the
// lock.
func (x *inbox) refuses() error {
	if x.closed == nil && x.claimed != nil {
		return x.claimed.cause
	}
	return x.closed
}

// queue begins a call. Its serial is new, because the buffer may serve many calls in one
// batch.
func (x *inbox) queue(b *Batch) Queue {
	buf := x.buffer()
	buf.begin(b, serials.Add(1), inboxPass, 0)
	return Queue{buf: buf, serial: buf.serial}
}

// buffer returns a free buffer from the end of the list: trim releases buffers at the
// front, which no call needed. The caller holds the lock.
func (x *inbox) buffer() *buffer {
	if n := len(x.free); n > 0 {
		buf := x.free[n-1]
		x.free = x.free[:n-1]
		x.idle = min(x.idle, n-1)
		return buf
	}
	return new(buffer)
}

// AddCall ends a call. The flush that seals the inbox next applies it after all passes and
// earlier calls. If a limit is exceeded, AddCall drops the call and returns [ErrQueueFull].
// call may be nil; it completes when the outcome is known, or at once without commands.
func (b *Batch) AddCall(q Queue, call *Call) error {
	x, buf := &b.inbox, q.buf
	// The load is computed before the lock is taken; the queue belongs to the caller until
	// then.
	overflowed := buf.overflowed()
	load := buf.load()
	// A queue that fn kept must not record into a call that waits.
	buf.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	// The inbox may have closed since Enter.
	err := x.refuses()
	switch {
	case err != nil:
		x.recycle(buf)
		return err
	case overflowed:
		x.recycle(buf)
		return b.limits.overflow()
	case buf.empty():
		x.recycle(buf)
		if call != nil {
			call.Complete(nil)
		}
		return nil
	}
	if err := b.limits.arrive(x.held.Commands, load.Commands); err != nil {
		x.recycle(buf)
		return err
	}
	x.held.add(load)
	buf.call = call
	x.arrived = append(x.arrived, buf)
	x.waiting.Add(1)
	return nil
}

// Leave drops a failed call.
func (b *Batch) Leave(q Queue) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	q.buf.close()
	b.inbox.recycle(q.buf)
}

// Close makes all further calls, and waiting calls of an [EncodedInbox], return err.
func (b *Batch) Close(err error) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	b.inbox.closed = err
	if a := b.inbox.claimed; a != nil {
		a.close(err)
	}
}

// recycle empties a buffer and makes it free. The caller holds the lock.
func (x *inbox) recycle(buf *buffer) {
	buf.reset()
	buf.unlimited, buf.cause = false, nil
	x.free = append(x.free, buf)
}

// trim releases buffers unused since the last trim.
func (x *inbox) trim() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.idle > 0 { // taken from the end
		x.free = slices.Clone(x.free[x.idle:])
	}
	x.idle = len(x.free)
}

// pending returns the load of sealed and arrived calls.
func (x *inbox) pending() Load {
	if x.waiting.Load() == 0 {
		return Load{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.held
}

// seal moves the arrived calls to the sealed calls. The store calls it on one goroutine at
// a time.
func (x *inbox) seal() {
	if x.waiting.Load() == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, buf := range x.arrived {
		// The order of arrival, which depends on timing, becomes the key. A log records it.
		buf.task = len(x.sealed)
		x.sealed = append(x.sealed, buf)
	}
	clear(x.arrived)
	x.arrived = highwater.Trim(&x.arrivedPeak, x.arrived)
}

// finish ends the batch of the sealed calls. Calls that arrived meanwhile stay.
func (x *inbox) finish() {
	if len(x.sealed) > 0 {
		x.drop()
	}
	if x.flushes++; x.flushes == highwater.Period {
		x.flushes = 0
		x.trim()
	}
}

// drop empties the sealed calls and frees their buffers.
func (x *inbox) drop() {
	var held Load
	for _, buf := range x.sealed { // calls would wait for the lock
		held.add(buf.load())
		buf.reset()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	// The load has not changed since AddCall, because nothing records into a sealed queue.
	x.held.subtract(held)
	for i, buf := range x.sealed {
		buf.last = 0
		x.recycle(buf)
		x.sealed[i] = nil
	}
	// seal and pending take no lock if nothing waits, so the number falls last.
	x.waiting.Add(-int64(len(x.sealed)))
	x.sealed = highwater.Trim(&x.peak, x.sealed)
}
