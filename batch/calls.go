package batch

import (
	"fmt"
	"unsafe"

	"handloom/handle"
	"handloom/internal/entrance"
)

// InboxCall is a call of the inbox, which a flush may drop as a whole.
type InboxCall struct {
	batch *Batch
	buf   *buffer
}

// HasCalls reports whether the batch has calls that a flush may drop.
func (b *Batch) HasCalls() bool { return len(b.inbox.sealed) > 0 || b.input.waits }

// Calls returns the calls that a flush may drop and has not dropped, in order. It decodes
// the calls of an input again, each into its own queue, and runs visitors, which may panic.
func (b *Batch) Calls() ([]InboxCall, error) {
	// The common queue of an input cannot drop one call, so each call gets a queue.
	if b.input.waits && len(b.input.single) == 0 {
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

// Withhold makes Gather leave out or include the calls that a flush may drop.
func (b *Batch) Withhold(calls bool) { b.withheld = calls }

// KeepCalls revokes all drops after a failed flush. The next flush decides again, with the
// state and the limits of that time.
func (b *Batch) KeepCalls() {
	for _, buf := range b.inbox.sealed {
		if buf.state == dropped {
			// ended is the state of every sealed call.
			buf.state, buf.cause = ended, nil
		}
	}
	b.input.join()
}

// Dropped returns the number of dropped calls of the gathered batch, and of their erases of
// unknown typeIds.
func (b *Batch) Dropped() (calls, unknown int) { return b.dropped.calls, b.dropped.unknownErases }

// Drop drops the call. Its Submit returns cause.
func (c InboxCall) Drop(cause error) { c.buf.state, c.buf.cause = dropped, cause }

// Erases calls visit with each list of erases; an erase of all items has the shard -1.
func (c InboxCall) Erases(visit func(ordinal, shard int, ids []handle.ID)) {
	// Calls erase by handle only. The caller has resolved rows of passes.
	for _, list := range c.buf.lists {
		r := c.batch.byList[list]
		visit(r.ordinal, list-r.list, c.buf.erases[list].ids)
	}
	for _, ordinal := range c.buf.all {
		visit(ordinal, -1, nil)
	}
}

// Values calls visit for each create of a table in sequence, then for its puts by shard in
// sequence.
func (c InboxCall) Values(visit func(ordinal int, id handle.ID, v unsafe.Pointer, put bool)) {
	for _, t := range c.buf.touched {
		r := c.batch.tables[t.ordinal]
		t.table.seal()
		for i := range t.table.segments[:t.table.used] {
			s := &t.table.segments[i]
			name := r.name(s.number)
			for at := range s.values.Len() {
				visit(t.ordinal, name+handle.ID(at), s.values.Pointer(at, r.typ.Size), false)
			}
		}
		for shard := range t.table.put.All {
			puts := &t.table.puts[shard]
			for at, id := range puts.IDs {
				visit(t.ordinal, id, puts.Values.Pointer(at, r.typ.Size), true)
			}
		}
	}
}

// Visit calls the visitors of all values of the call. It panics as they do, so a flush can
// find the call that made it fail.
func (c InboxCall) Visit() {
	ignore := func(*handle.ID) {}
	c.Values(func(ordinal int, _ handle.ID, v unsafe.Pointer, _ bool) {
		if visitor := c.batch.tables[ordinal].links.visitor; visitor != nil {
			visitor(v, ignore)
		}
	})
	for _, s := range c.buf.attached {
		if visitor := s.log.links.visitor; visitor != nil {
			s.each(func(v unsafe.Pointer) { visitor(v, ignore) })
		}
	}
}

// each calls f with every value that the queue set. Values of an Unset are arbitrary.
func (s *Sets) each(f func(v unsafe.Pointer)) {
	size := s.log.typ.Size
	for i := range s.staged[:s.used] {
		st := &s.staged[i]
		st.set.each(func(offset int) {
			if !st.unset.has(offset) {
				f(st.values.Pointer(offset, size))
			}
		})
	}
	for shard := range s.put.All {
		p := &s.puts[shard]
		for i := range p.IDs {
			if !p.IsUnset(i) {
				f(p.Values.Pointer(i, size))
			}
		}
	}
}

// gatherDropped counts the commands of a dropped call (B1). It plans none of them.
func (b *Batch) gatherDropped(buf *buffer) {
	b.dropped.calls++
	b.dropped.unknownErases += len(buf.unknownErases)
	for _, t := range buf.touched {
		b.pending(b.tables[t.ordinal]).dropped += t.table.load().Commands
	}
	for _, list := range buf.lists {
		b.pending(b.byList[list]).dropped += len(buf.erases[list].ids)
	}
	for _, ordinal := range buf.all {
		b.pending(b.tables[ordinal]).dropped++
	}
	for _, s := range buf.attached {
		b.pending(s.log.table).attachment(s.log.index).dropped += s.load().Commands
	}
}

// Dropped returns the number of commands of dropped calls for the table, except Sets.
func (c *Commands) Dropped() int { return c.dropped }

// DroppedSets returns the number of Sets of dropped calls for an attachment.
func (c *Commands) DroppedSets(attachment int) int {
	if attachment < len(c.attached) {
		return c.attached[attachment].dropped
	}
	return 0
}

// Admission computes, call by call, the number of creates that a flush makes. An erase may
// name a create of an earlier queue, of its own call or of a later call, so erases and
// creates meet in either order:
//
//	create first    the erase lowers the number (Try, by creates or the plan)
//	erase first     the create is not counted (Try, by bySegment)
type Admission struct {
	batch     *Batch
	survivors map[int]int       // by ordinal: creates of kept calls, less creates that they cancel
	creates   map[handle.ID]int // creates of kept calls, by first name of the segment
	erased    map[handle.ID]bool
	bySegment map[handle.ID][]handle.ID // erased, by first name of the segment

	// Effects of the tried call:
	added []handle.ID
	more  map[int]int // by ordinal
	own   map[int]int // own creates, by ordinal
	runs  []createsOf
}

type createsOf struct {
	name handle.ID
	n    int
}

// NewAdmission calls visit with each queue of the batch except the withheld calls.
func (b *Batch) NewAdmission(visit func(queue InboxCall)) *Admission {
	a := &Admission{
		batch: b, survivors: make(map[int]int), creates: make(map[handle.ID]int),
		erased: make(map[handle.ID]bool), bySegment: make(map[handle.ID][]handle.ID), more: make(map[int]int), own: make(map[int]int),
	}
	// Withheld calls are not among them.
	for buf := range b.buffers {
		// The plan of the passes has counted these erases. They are noted for creates of
		// calls.
		a.erase(buf, func(*Recorder, handle.ID) {})
		visit(InboxCall{b, buf})
	}
	return a
}

// Try computes the effects of a call, until Keep or Undo. It calls visit with the ordinal
// of each table that the call changes.
func (a *Admission) Try(c InboxCall, visit func(ordinal int)) {
	a.added, a.runs = a.added[:0], a.runs[:0]
	clear(a.more)
	clear(a.own)
	// Erases first: the own creates of the call find them in bySegment.
	a.erase(c.buf, func(r *Recorder, id handle.ID) {
		a.added = append(a.added, id)
		// The create is of a queue that is always applied, or of a call that was kept. A create
		// of a later call counts when that call is tried; see bySegment.
		if name := segmentName(id); r.Pending.survives(id) || int(id-name) < a.creates[name] {
			a.more[r.ordinal]--
		}
	})
	for _, t := range c.buf.touched {
		r := a.batch.tables[t.ordinal]
		t.table.seal()
		for i := range t.table.segments[:t.table.used] {
			s := &t.table.segments[i]
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

// erase notes the provisional handles that the queue is the first to erase, and calls found
// for each. A second erase of a create changes no number.
func (a *Admission) erase(buf *buffer, found func(r *Recorder, id handle.ID)) {
	for _, list := range buf.lists {
		r := a.batch.byList[list]
		for _, id := range buf.erases[list].ids {
			if r.isProvisional(id) && !a.erased[id] {
				a.erased[id] = true
				name := segmentName(id)
				a.bySegment[name] = append(a.bySegment[name], id)
				found(r, id)
			}
		}
	}
}

// Survivors returns the number of creates of a table that survive with the tried call, and
// of the call's own.
func (a *Admission) Survivors(ordinal int) (n, own int) {
	n = a.survivors[ordinal] + a.more[ordinal]
	if c := a.batch.tables[ordinal].Pending; c.begun {
		n += c.Survivors()
	}
	return n, a.own[ordinal]
}

// Keep adds the tried call to the flush.
func (a *Admission) Keep() {
	for ordinal, n := range a.more {
		a.survivors[ordinal] += n
	}
	for _, run := range a.runs {
		a.creates[run.name] = run.n
	}
}

// Undo leaves the tried call out.
func (a *Admission) Undo() {
	for _, id := range a.added {
		name := segmentName(id)
		ids := a.bySegment[name]
		a.bySegment[name] = ids[:len(ids)-1] // appended last
		delete(a.erased, id)
	}
}

// survives reports whether the planned commands have the create and do not cancel it.
func (c *Commands) survives(id handle.ID) bool {
	if !c.begun {
		return false
	}
	_, creation, ok := c.locate(id)
	return ok && c.marks[creation] != cancelled
}

// segmentName returns the first name of the segment of a provisional handle.
func segmentName(id handle.ID) handle.ID { return id &^ (segmentItems - 1) }

// divide decodes each call of the input into a queue of its own. PutInput has read the same
// bytes, so the names of creates differ and nothing else.
func (p *input) divide() error {
	d := &p.decoder
	whole, done := d.q, false
	defer func() {
		d.q = whole
		d.in.Reset(nil)
		// With some calls in single, buffers would leave out the others.
		if !done { // or a visitor panics
			p.join()
		}
	}()
	for range d.begin(p.encoded) {
		d.call++
		// These buffers belong to the inbox and return to it in join.
		buf := d.batch.inbox.take()
		// The calls have fitted the limits when they were recorded.
		buf.unlimited = true
		buf.begin(d.batch, serials.Add(1), inboxPass, len(p.single))
		p.single = append(p.single, buf)
		d.q = Queue{buf: buf, serial: buf.serial}
		if !d.readCall() {
			return fmt.Errorf("%w: call %d: %w", entrance.ErrInput, d.call, d.in.Err())
		}
		buf.close()
	}
	done = true
	return nil
}

// join returns the queues of divide, and the common queue counts again.
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

// take returns a free buffer. Calls take buffers at the same time, hence the lock.
func (x *inbox) take() *buffer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.buffer()
}
