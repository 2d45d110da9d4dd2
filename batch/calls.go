package batch

import (
	"fmt"
	"unsafe"

	"handloom/internal/hook"
	"handloom/shard/handle"
)

// InboxCall is a call of the inbox in the batch that is flushed. The flush may drop it:
// then none of its commands is applied.
type InboxCall struct {
	batch *Batch
	buf   *buffer
}

// HasCalls reports whether the batch has calls that a flush may drop.
func (b *Batch) HasCalls() bool {
	return len(b.inbox.sealed) > 0 || b.input.waits && !b.input.whole
}

// Calls returns the calls that a flush may drop and has not dropped, in their order. The
// calls of an input are decoded once more, each into a queue of its own. Calls runs the
// visitors of tables, which may panic.
func (b *Batch) Calls() ([]InboxCall, error) {
	if b.input.waits && !b.input.whole && len(b.input.single) == 0 {
		if err := b.input.divide(); err != nil {
			return nil, err
		}
	}
	var calls []InboxCall
	for _, queues := range [][]*buffer{b.inbox.sealed, b.input.single} {
		for _, buf := range queues {
			if buf.state != dropped {
				calls = append(calls, InboxCall{b, buf})
			}
		}
	}
	return calls, nil
}

// Withhold has Gather leave out the calls that a flush may drop, or take them again.
func (b *Batch) Withhold(calls bool) { b.withheld = calls }

// KeepCalls takes back what was dropped: the flush has failed, and the next one decides
// anew.
func (b *Batch) KeepCalls() {
	for _, buf := range b.inbox.sealed {
		if buf.state == dropped {
			buf.state, buf.why = ended, nil
		}
	}
	b.input.join()
}

// Dropped returns how many calls of the gathered batch are dropped, and how many of their
// commands are erases of handles that no table has.
func (b *Batch) Dropped() (calls, unrouted int) { return b.dropped.calls, b.dropped.unknownErases }

// Drop has the flush leave out the call, and its Submit return why.
func (c InboxCall) Drop(why error) { c.buf.state, c.buf.why = dropped, why }

// Erases calls visit with the ordinal of the table, the shard and the handles of each
// list of erases, and with the shard -1 for each erase of all items.
func (c InboxCall) Erases(visit func(ordinal, shard int, ids []handle.ID)) {
	for _, list := range c.buf.lists {
		r := c.batch.byList[list]
		visit(r.ordinal, list-r.list, c.buf.erases[list])
	}
	for _, ordinal := range c.buf.all {
		visit(ordinal, -1, nil)
	}
}

// Values calls visit with the ordinal of the table, the handle and the value of each create
// and each put of the call: the creates of a table in sequence, then the puts, those to one
// shard in sequence.
func (c InboxCall) Values(visit func(ordinal int, id handle.ID, v unsafe.Pointer, put bool)) {
	for _, t := range c.buf.touched {
		r := c.batch.tables[t.ordinal]
		t.column.seal()
		for i := range t.column.segments[:t.column.used] {
			s := &t.column.segments[i]
			name := r.name(s.number)
			for at := range s.values.Len() {
				visit(t.ordinal, name+handle.ID(at), s.values.Pointer(at, r.typ.Size), false)
			}
		}
		for shard := range t.column.put.All {
			puts := &t.column.puts[shard]
			for at, id := range puts.IDs {
				visit(t.ordinal, id, puts.Values.Pointer(at, r.typ.Size), true)
			}
		}
	}
}

// Visit runs the visitors of tables on all values of the call.
func (c InboxCall) Visit() {
	ignore := func(*handle.ID) {}
	c.Values(func(ordinal int, _ handle.ID, v unsafe.Pointer, _ bool) {
		if visitor := c.batch.tables[ordinal].links.visitor; visitor != nil {
			visitor(v, ignore)
		}
	})
	for _, s := range c.buf.attached {
		if visitor := s.of.links.visitor; visitor != nil {
			s.each(func(v unsafe.Pointer) { visitor(v, ignore) })
		}
	}
}

// each calls f with the address of each value that was set.
func (s *Sets) each(f func(v unsafe.Pointer)) {
	size := s.of.typ.Size
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		st.set.each(func(offset int) {
			if !st.unset.has(offset) {
				f(st.values.Pointer(offset, size))
			}
		})
	}
	for shard := range s.shards.All {
		p := &s.puts[shard]
		for i := range p.IDs {
			if !s.of.optional || !s.IsUnset(shard, i) {
				f(p.Values.Pointer(i, size))
			}
		}
	}
}

// gatherDropped notes the tables that a dropped call has commands for, and how many.
func (b *Batch) gatherDropped(buf *buffer) {
	b.dropped.calls++
	b.dropped.unknownErases += len(buf.unknownErases)
	for _, t := range buf.touched {
		b.pending(b.tables[t.ordinal]).dropped += t.column.load().Commands
	}
	for _, list := range buf.lists {
		b.pending(b.byList[list]).dropped += len(buf.erases[list])
	}
	for _, ordinal := range buf.all {
		b.pending(b.tables[ordinal]).dropped++
	}
	for _, s := range buf.attached {
		b.pending(s.of.table).attachment(s.of.index).dropped += s.load().Commands
	}
}

// Dropped returns how many commands for the table dropped calls have, but for those of
// its attachments.
func (c *Commands) Dropped() int { return c.dropped }

// DroppedSets returns how many commands for an attachment dropped calls have.
func (c *Commands) DroppedSets(attachment int) int {
	if attachment < len(c.attached) {
		return c.attached[attachment].dropped
	}
	return 0
}

// Admission finds out, call by call, how many creates a flush makes. It begins with the
// commands of the batch without its calls, once they are planned.
type Admission struct {
	batch     *Batch
	survivors map[int]int               // by ordinal: creates of the calls that were kept, less those before that they cancel
	creates   map[handle.ID]int         // of the calls that were kept, by the first name of a segment
	erased    map[handle.ID]bool        // provisional handles
	bySegment map[handle.ID][]handle.ID // the same, by the first name of their segment

	// Of the call that is tried:
	added []handle.ID // to erased
	more  map[int]int // creates, by ordinal
	own   map[int]int // of these its own
	runs  []createsOf
}

// createsOf is a segment of a call.
type createsOf struct {
	name handle.ID
	n    int
}

// NewAdmission begins an admission, while the calls are withheld and before the rest of the
// batch is gathered and planned, and calls visit with each queue of the rest.
func (b *Batch) NewAdmission(visit func(queue InboxCall)) *Admission {
	a := &Admission{
		batch: b, survivors: make(map[int]int), creates: make(map[handle.ID]int),
		erased: make(map[handle.ID]bool), bySegment: make(map[handle.ID][]handle.ID), more: make(map[int]int), own: make(map[int]int),
	}
	for buf := range b.buffers {
		a.erase(buf, func(*Recorder, handle.ID) {})
		visit(InboxCall{b, buf})
	}
	return a
}

// Try finds out what a call comes to, until Keep or Undo, and calls visit with the
// ordinal of each table that it creates items of or erases some of, or all.
func (a *Admission) Try(c InboxCall, visit func(ordinal int)) {
	a.added, a.runs = a.added[:0], a.runs[:0]
	clear(a.more)
	clear(a.own)
	a.erase(c.buf, func(r *Recorder, id handle.ID) {
		a.added = append(a.added, id)
		if name := segmentName(id); r.Pending.survives(id) || int(id-name) < a.creates[name] {
			a.more[r.ordinal]--
		}
	})
	for _, t := range c.buf.touched {
		r := a.batch.tables[t.ordinal]
		t.column.seal()
		for i := range t.column.segments[:t.column.used] {
			s := &t.column.segments[i]
			run := createsOf{r.name(s.number), s.values.Len()}
			a.runs = append(a.runs, run)
			n := run.n
			for _, id := range a.bySegment[run.name] {
				if int(id-run.name) < run.n {
					n--
				}
			}
			a.more[r.ordinal] += n
			a.own[r.ordinal] += n
		}
		visit(t.ordinal)
	}
	for _, list := range c.buf.lists {
		visit(a.batch.byList[list].ordinal)
	}
	for _, ordinal := range c.buf.all {
		visit(ordinal)
	}
}

// erase takes note of the provisional handles that a queue erases, and calls found with
// those that none before it does.
func (a *Admission) erase(buf *buffer, found func(r *Recorder, id handle.ID)) {
	for _, list := range buf.lists {
		r := a.batch.byList[list]
		for _, id := range buf.erases[list] {
			if r.isProvisional(id) && !a.erased[id] {
				a.erased[id] = true
				name := segmentName(id)
				a.bySegment[name] = append(a.bySegment[name], id)
				found(r, id)
			}
		}
	}
}

// Survivors returns how many creates of a table survive if the call that is tried is
// kept, and how many of these are its own.
func (a *Admission) Survivors(ordinal int) (n, own int) {
	n = a.survivors[ordinal] + a.more[ordinal]
	if c := a.batch.tables[ordinal].Pending; c.begun {
		n += c.Survivors()
	}
	return n, a.own[ordinal]
}

// Keep keeps the call that was tried.
func (a *Admission) Keep() {
	for ordinal, n := range a.more {
		a.survivors[ordinal] += n
	}
	for _, run := range a.runs {
		a.creates[run.name] = run.n
	}
}

// Undo forgets the call that was tried.
func (a *Admission) Undo() {
	for _, id := range a.added {
		name := segmentName(id)
		of := a.bySegment[name]
		a.bySegment[name] = of[:len(of)-1] // they were added last
		delete(a.erased, id)
	}
}

// survives reports whether id names a create of the batch that is not cancelled.
func (c *Commands) survives(id handle.ID) bool {
	if !c.begun {
		return false
	}
	_, creation, ok := c.locate(id)
	return ok && c.marks[creation] != cancelled
}

// segmentName returns the first provisional handle of the segment of id.
func segmentName(id handle.ID) handle.ID { return id &^ (segmentItems - 1) }

// divide decodes each call of the input into a queue of its own.
func (p *input) divide() error {
	d := &p.decoder
	whole, done := d.q, false
	defer func() {
		d.q = whole
		d.in.Reset(nil)
		if !done { // also when a visitor panics
			p.join()
		}
	}()
	for range d.begin(p.encoded) {
		d.call++
		buf := d.batch.inbox.take()
		buf.unlimited = true
		buf.begin(d.batch, serials.Add(1), inboxPass, len(p.single))
		p.single = append(p.single, buf)
		d.q = Queue{buf: buf, serial: buf.serial}
		if !d.readCall() {
			return fmt.Errorf("%w: call %d: %w", hook.ErrInput, d.call, d.in.Err())
		}
		buf.close()
	}
	done = true
	return nil
}

// join gives up the queues of single calls.
func (p *input) join() {
	if len(p.single) == 0 {
		return
	}
	x := &p.batch.inbox
	x.mu.Lock()
	defer x.mu.Unlock()
	for i, buf := range p.single {
		buf.close()
		buf.last = 0
		x.recycle(buf)
		p.single[i] = nil
	}
	p.single = p.single[:0]
}

// take returns an empty buffer.
func (x *inbox) take() *buffer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buffer()
}
