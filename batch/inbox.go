package batch

import (
	"slices"
	"sync"
	"sync/atomic"

	"handloom/internal/highwater"
)

// inbox takes commands from goroutines outside of passes. Its lock guards the list of
// calls. Recording takes no lock.
type inbox struct {
	waiting atomic.Int64 // number of arrived calls that are not flushed

	mu          sync.Mutex
	closed      error         // error of all calls after Close
	claimed     *EncodedInbox // receiver of calls while claimed
	sealed      []*buffer     // calls of the current or next flush, in order of arrival; only the flushing goroutine changes it
	arrived     []*buffer     // calls after the last Seal
	free        []*buffer
	held        Load // load of sealed and arrived
	idle        int  // free buffers that no call used in this period
	flushes     int  // flushes in this period; only the flushing goroutine changes it
	peak        highwater.Mark
	arrivedPeak highwater.Mark
}

// Enter begins a call of the inbox and returns its queue. Any goroutine may call it at any
// time. It fails with [ErrQueueFull] at the limits of the inbox or the batch, and with the
// error of [Batch.Close] after that.
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

// refuses returns the reason why no call can arrive, or nil.
func (x *inbox) refuses() error {
	if x.closed == nil && x.claimed != nil {
		return x.claimed.cause
	}
	return x.closed
}

// queue returns the queue of a new call.
func (x *inbox) queue(b *Batch) Queue {
	buf := x.buffer()
	buf.begin(b, serials.Add(1), inboxPass, 0)
	return Queue{buf: buf, serial: buf.serial}
}

func (x *inbox) buffer() *buffer {
	if n := len(x.free); n > 0 {
		buf := x.free[n-1]
		x.free = x.free[:n-1]
		x.idle = min(x.idle, n-1)
		return buf
	}
	return new(buffer)
}

// AddCall ends a call. The flush that seals the inbox next applies its commands after all
// passes and earlier calls. If the call or the inbox exceeds its limits, AddCall drops the
// call and returns [ErrQueueFull]. A call that is not nil completes when the outcome is
// known, or at once if it has no commands.
func (b *Batch) AddCall(q Queue, call *Call) error {
	x, buf := &b.inbox, q.buf
	overflowed := buf.overflowed()
	load := buf.load()
	buf.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.refuses()
	switch {
	case err != nil:
		x.recycle(buf)
		return err
	case overflowed:
		x.recycle(buf)
		return b.limits.overflow()
	case buf.empty(): // nothing to flush, and nothing that limits count
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

// Close makes all further calls of the inbox return err, and all waiting calls of an
// [EncodedInbox].
func (b *Batch) Close(err error) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	b.inbox.closed = err
	if a := b.inbox.claimed; a != nil {
		a.close(err)
	}
}

// recycle empties the buffer of an ended call.
func (x *inbox) recycle(buf *buffer) {
	buf.reset()
	buf.unlimited, buf.cause = false, nil
	x.free = append(x.free, buf)
}

// trim releases the buffers that no call used since the last trim.
func (x *inbox) trim() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.idle > 0 { // calls take buffers from the end
		x.free = slices.Clone(x.free[x.idle:])
	}
	x.idle = len(x.free)
}

func (x *inbox) pending() Load {
	if x.waiting.Load() == 0 {
		return Load{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.held
}

// seal implements [Batch.Seal].
func (x *inbox) seal() {
	if x.waiting.Load() == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, buf := range x.arrived {
		buf.task = len(x.sealed)
		x.sealed = append(x.sealed, buf)
	}
	clear(x.arrived)
	x.arrived = highwater.Trim(&x.arrivedPeak, x.arrived)
}

// finish drops the sealed calls, and trims once per period.
func (x *inbox) finish() {
	if len(x.sealed) > 0 {
		x.drop()
	}
	if x.flushes++; x.flushes == highwater.Period {
		x.flushes = 0
		x.trim()
	}
}

func (x *inbox) drop() {
	var held Load
	for _, buf := range x.sealed { // without the lock, for which calls would wait
		held.add(buf.load())
		buf.reset()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held.subtract(held)
	for i, buf := range x.sealed {
		buf.last = 0
		x.recycle(buf)
		x.sealed[i] = nil
	}
	x.waiting.Add(-int64(len(x.sealed)))
	x.sealed = highwater.Trim(&x.peak, x.sealed)
}
