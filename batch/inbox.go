package batch

import (
	"slices"
	"sync"
	"sync/atomic"

	"handloom/internal/highwater"
)

// inbox takes commands from goroutines that take part in no pass. Its lock
// guards the list of calls, never what a call records.
type inbox struct {
	waiting atomic.Int64 // calls that arrived and were not flushed

	mu          sync.Mutex
	closed      error         // what calls return once the store is closed
	claimed     *EncodedInbox // where calls arrive instead
	sealed      []*buffer     // for the next flush, or the one that runs, in order of arrival; changed by who flushes alone
	arrived     []*buffer     // since then
	free        []*buffer
	held        Load // of sealed and arrived
	idle        int  // free buffers that no call took since the period began
	flushes     int  // since then; changed by who flushes alone
	peak        highwater.Mark
	arrivedPeak highwater.Mark // of arrived
}

// Enter begins a call of the inbox and returns the queue that it records into.
// It may be called from any goroutine at any time. It fails with
// [ErrQueueFull] while as much waits for a flush as the limits of the inbox or of
// the batch allow, and with the error of [Batch.Close] after that.
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

// refuses returns why no call can arrive, or nil.
func (x *inbox) refuses() error {
	if x.closed == nil && x.claimed != nil {
		return x.claimed.why
	}
	return x.closed
}

// queue returns the queue of a call that begins.
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

// AddCall ends a call whose commands are to be applied by the next flush that
// seals the inbox, after those of keyed queues and of calls before. When the
// call, or the inbox with it, exceeds its limits nothing of it is kept and
// AddCall returns [ErrQueueFull]. call, unless it is nil, is settled once it is
// known what became of the commands, which is at once when there are none.
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
	case buf.empty(): // nothing to wait for a flush, and nothing that limits count
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

// Leave ends a call that failed: nothing of it is kept.
func (b *Batch) Leave(q Queue) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	q.buf.close()
	b.inbox.recycle(q.buf)
}

// Close makes every further call of the inbox return err, and those that wait for who
// has claimed it.
func (b *Batch) Close(err error) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	b.inbox.closed = err
	if a := b.inbox.claimed; a != nil {
		a.close(err)
	}
}

// recycle empties a buffer whose call is over.
func (x *inbox) recycle(buf *buffer) {
	buf.reset()
	buf.unlimited, buf.why = false, nil
	x.free = append(x.free, buf)
}

// rest gives up buffers that no call took since it was called last.
func (x *inbox) rest() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.idle > 0 { // buffers are taken from the end
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

// seal is what [Batch.Seal] does.
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

// finish drops the sealed calls, and gives up idle buffers now and then.
func (x *inbox) finish() {
	if len(x.sealed) > 0 {
		x.drop()
	}
	if x.flushes++; x.flushes == highwater.Period {
		x.flushes = 0
		x.rest()
	}
}

func (x *inbox) drop() {
	var held Load
	for _, buf := range x.sealed { // nobody need wait for the lock meanwhile
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
