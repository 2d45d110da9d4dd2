package batch

import (
	"cmp"
	"slices"
	"sort"

	"handloom/handle"
)

// Call is a call of the inbox whose caller waits.
type Call struct {
	Tick      uint64 // tick that applied it in a claimed inbox; else 0
	number    int    // of the arrival in a claimed inbox
	completed chan struct{}
	err       error // nil if applied, once completed
	dropped   error // cause of a drop
	created   []createRun
	recorded  []recordedRun  // if encoded
	one       [1]recordedRun // memory of recorded, usually enough
}

type createRun struct {
	name handle.ID
	ids  []handle.ID
}

// NewCall returns a pending call.
func NewCall() *Call { return &Call{completed: make(chan struct{})} }

// Completed returns a channel that closes when the outcome is known.
func (c *Call) Completed() <-chan struct{} { return c.completed }

// Err returns the reason if a completed call was not applied.
func (c *Call) Err() error { return c.err }

// Complete records the outcome, once: applied unless err is not nil or a flush dropped the
// call. It closes the channel last, so a waiting caller may read all fields without a lock.
// A caller may keep the Call forever.
func (c *Call) Complete(err error) {
	if c.err = cmp.Or(err, c.dropped); c.err != nil {
		c.created = nil
	}
	close(c.completed)
}

// Resolve returns the handle of the item that a provisional handle of the completed call
// created, and whether it exists, in O(log(segments)) time. Any goroutine may call it.
func (c *Call) Resolve(id handle.ID) (handle.ID, bool) {
	// note has sorted the runs by their first name.
	at := sort.Search(len(c.created), func(i int) bool { return c.created[i].name > id }) - 1
	if at < 0 {
		return 0, false
	}
	// A name past the run belongs to a segment of another call.
	run := &c.created[at]
	offset := uint64(id - run.name)
	if offset >= uint64(len(run.ids)) || run.ids[offset].IsZero() {
		return 0, false
	}
	return run.ids[offset], true
}

// Applied appends the sealed calls with waiting callers, also dropped ones, to calls. It is
// called after creates are applied. It does not
// complete the calls: their frame may still be rolled back.
func (b *Batch) Applied(calls []*Call) []*Call {
	for _, buf := range b.inbox.sealed {
		if c := buf.call; c != nil {
			if buf.state == dropped {
				// Complete returns the cause when the frame ends.
				c.dropped = buf.cause
			} else {
				c.note(b, buf)
			}
			calls = append(calls, c)
			// Each call completes once; Break and Drop must not find this one.
			buf.call = nil
		}
	}
	b.input.applied(b)
	return calls
}

// note copies the handles of a buffer's creates. The next batch reuses the memory of the
// commands, and a call is valid forever.
func (c *Call) note(b *Batch, buf *buffer) {
	creates, segments := 0, 0
	for _, t := range buf.touched {
		for _, s := range t.table.segments[:t.table.used] {
			creates += s.values.Len()
			segments++
		}
	}
	// One array for all runs; the capacity is exact, so all[from:] is never moved.
	all := make([]handle.ID, 0, creates)
	c.created = make([]createRun, 0, segments)
	for _, t := range buf.touched {
		r := b.tables[t.ordinal]
		for _, s := range t.table.segments[:t.table.used] {
			from := len(all)
			all = append(all, r.Pending.createdIn(s.number)...)
			c.created = append(c.created, createRun{r.name(s.number), all[from:]})
		}
	}
	c.sort()
}

// sort sorts the runs by name, for Resolve.
func (c *Call) sort() {
	slices.SortFunc(c.created, func(a, b createRun) int { return cmp.Compare(a.name, b.name) })
}

// complete completes all arrived calls with err.
func (b *Batch) complete(err error) {
	// Arrived calls end together with the sealed calls.
	b.inbox.seal()
	for _, buf := range b.inbox.sealed {
		if buf.call != nil {
			buf.call.Complete(err)
			buf.call = nil
		}
	}
}
