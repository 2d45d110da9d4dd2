package batch

import (
	"cmp"
	"slices"
	"sort"

	"handloom/shard/handle"
)

// Call is a call of the inbox whose caller waits for what becomes of it. A flush that
// applies it notes the handles that its creates got, in memory of the call's own: they
// are good for as long as anybody has it.
type Call struct {
	Epoch     uint64 // of the flush that applied it
	Tick      uint64 // that it was applied in, by who had claimed the inbox; else 0
	completed chan struct{}
	err       error // why it was not applied, once settled
	dropped   error // why the flush that was to apply it did not
	created   []createRun
	recorded  []recordedRun  // of a call that became bytes
	one       [1]recordedRun // the memory of recorded, which seldom has more
}

// createRun is a segment of the call: the provisional handles from name on stand for
// ids.
type createRun struct {
	name handle.ID
	ids  []handle.ID
}

// NewCall returns a call, begun in the given epoch, that nothing is known of.
func NewCall(epoch uint64) *Call { return &Call{Epoch: epoch, completed: make(chan struct{})} }

// Completed returns a channel that is closed once it is known what became of the call.
func (c *Call) Completed() <-chan struct{} { return c.completed }

// Err returns why a settled call was not applied, or nil.
func (c *Call) Err() error { return c.err }

// Complete records the outcome of the call and ends the wait of its caller. The call was
// applied, unless a flush dropped it or err is not nil. It is called once.
func (c *Call) Complete(err error) {
	if c.err = cmp.Or(err, c.dropped); c.err != nil {
		c.created = nil
	}
	close(c.completed)
}

// Resolve returns the handle of the item that the provisional handle id of the settled
// call was recorded for, and whether there is one. It takes O(log(segments)) time and
// may be called from any goroutine.
func (c *Call) Resolve(id handle.ID) (handle.ID, bool) {
	at := sort.Search(len(c.created), func(i int) bool { return c.created[i].name > id }) - 1
	if at < 0 {
		return 0, false
	}
	run := &c.created[at]
	offset := uint64(id - run.name)
	if offset >= uint64(len(run.ids)) || run.ids[offset].IsZero() {
		return 0, false
	}
	return run.ids[offset], true
}

// Applied appends the sealed calls that somebody waits for to calls, which it returns;
// those that the flush dropped as well.
// It is called when their creates have been applied, in an epoch, and before that is
// published.
func (b *Batch) Applied(epoch uint64, calls []*Call) []*Call {
	for _, buf := range b.inbox.sealed {
		if c := buf.call; c != nil {
			c.Epoch = epoch
			if buf.state == dropped {
				c.dropped = buf.why
			} else {
				c.note(b, buf)
			}
			calls = append(calls, c)
			buf.call = nil
		}
	}
	b.input.applied(b, epoch)
	return calls
}

// note copies the handles that the creates of a buffer got.
func (c *Call) note(b *Batch, buf *buffer) {
	creates, segments := 0, 0
	for _, t := range buf.touched {
		for _, s := range t.column.segments[:t.column.used] {
			creates += s.values.Len()
			segments++
		}
	}
	all := make([]handle.ID, 0, creates)
	c.created = make([]createRun, 0, segments)
	for _, t := range buf.touched {
		r := b.tables[t.ordinal]
		for _, s := range t.column.segments[:t.column.used] {
			from := len(all)
			all = append(all, r.Pending.createdIn(s.number)...)
			c.created = append(c.created, createRun{r.name(s.number), all[from:]})
		}
	}
	c.sort()
}

func (c *Call) sort() {
	slices.SortFunc(c.created, func(a, b createRun) int { return cmp.Compare(a.name, b.name) })
}

// complete ends the wait for all calls that arrived: they were not applied, as err says.
func (b *Batch) complete(err error) {
	b.inbox.seal()
	for _, buf := range b.inbox.sealed {
		if buf.call != nil {
			buf.call.Complete(err)
			buf.call = nil
		}
	}
}
