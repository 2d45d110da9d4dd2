package record

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"handloom/batch"
	"handloom/internal/highwater"
)

// inbox takes commands from goroutines that take part in no pass. Its lock
// guards the list of calls, never what a call records.
type inbox struct {
	waiting atomic.Int64 // calls that arrived and were not flushed

	mu          sync.Mutex
	closed      error   // what calls return once the store is closed
	sealed      []*lane // of the flush that runs, or failed, in order of arrival
	arrived     []*lane // since then
	free        []*lane
	held        Load // of sealed and arrived
	idle        int  // free lanes that no call took since the period began
	peak        highwater.Mark
	arrivedPeak highwater.Mark // of arrived
}

// Enter begins a call of the inbox and returns the queue that it records into.
// It may be called from any goroutine at any time. It fails with
// [batch.ErrQueueFull] while as much waits for a flush as the limits of the inbox or of
// the batch allow, and with the error of [Batch.Close] after that.
func (b *Batch) Enter() (Queue, error) {
	x := &b.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed != nil {
		return Queue{}, x.closed
	}
	if limit := b.limits.InboxCommands; limit > 0 && x.held.Commands >= limit {
		return Queue{}, fmt.Errorf("%w: the inbox holds %d commands, its limit is %d; flush first", batch.ErrQueueFull, x.held.Commands, limit)
	}
	load := b.ended.load()
	load.Add(x.held)
	if err := b.limits.admit(load); err != nil {
		return Queue{}, err
	}
	l := x.lane()
	l.begin(b, serials.Add(1), batch.InboxPass, 0)
	return Queue{lane: l, serial: l.serial}, nil
}

func (x *inbox) lane() *lane {
	if n := len(x.free); n > 0 {
		l := x.free[n-1]
		x.free = x.free[:n-1]
		x.idle = min(x.idle, n-1)
		return l
	}
	return new(lane)
}

// Arrive ends a call whose commands are to be applied by the next flush that
// seals the inbox, after those of keyed queues and of calls before. When the
// call, or the inbox with it, exceeds its limits nothing of it is kept and
// Arrive returns [batch.ErrQueueFull].
func (b *Batch) Arrive(q Queue) error {
	x, l := &b.inbox, q.lane
	overflowed := l.overflowed()
	load := l.load()
	l.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	switch {
	case x.closed != nil:
		x.recycle(l)
		return x.closed
	case overflowed:
		x.recycle(l)
		return fmt.Errorf("%w: the call recorded more than %v; record in more calls, or raise the limit", batch.ErrQueueFull, b.limits.ofQueue())
	case l.empty(): // nothing to wait for a flush, and nothing that limits count
		x.recycle(l)
		return nil
	}
	with := x.held
	with.Add(load)
	if limit := b.limits.InboxCommands; !with.within(limit, 0) {
		x.recycle(l)
		return fmt.Errorf("%w: %d commands and the %d of this call exceed the limit %d of the inbox; flush more often, or raise the limit", batch.ErrQueueFull, x.held.Commands, load.Commands, limit)
	}
	x.held = with
	x.arrived = append(x.arrived, l)
	x.waiting.Add(1)
	return nil
}

// Leave ends a call that failed: nothing of it is kept.
func (b *Batch) Leave(q Queue) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	q.lane.close()
	b.inbox.recycle(q.lane)
}

// Close makes every further call of the inbox return err.
func (b *Batch) Close(err error) {
	b.inbox.mu.Lock()
	defer b.inbox.mu.Unlock()
	b.inbox.closed = err
}

// recycle empties a lane whose call is over.
func (x *inbox) recycle(l *lane) {
	l.reset()
	x.free = append(x.free, l)
}

func (x *inbox) pending() Load {
	if x.waiting.Load() == 0 {
		return Load{}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.held
}

// seal hands the calls that arrived to the flush; what arrives later belongs to
// the next batch, and so do calls that are still recording.
func (x *inbox) seal() {
	if x.waiting.Load() == 0 {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.arrived {
		l.task = len(x.sealed)
		x.sealed = append(x.sealed, l)
	}
	clear(x.arrived)
	x.arrived = highwater.Trim(&x.arrivedPeak, x.arrived)
}

// finish drops the sealed calls.
func (x *inbox) finish() {
	var held Load
	for _, l := range x.sealed { // nobody need wait for the lock meanwhile
		held.Add(l.load())
		l.reset()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held.subtract(held)
	for i, l := range x.sealed {
		l.last = 0
		x.recycle(l)
		x.sealed[i] = nil
	}
	x.waiting.Add(-int64(len(x.sealed)))
	x.sealed = highwater.Trim(&x.peak, x.sealed)
	if x.peak.Begins() {
		if x.idle > 0 { // lanes are taken from the end
			x.free = slices.Clone(x.free[x.idle:])
		}
		x.idle = len(x.free)
	}
}
