package batch

import (
	"errors"
	"fmt"
	"slices"

	"handloom/handle"
	"handloom/internal/digest"
	"handloom/internal/entrance"
)

// input holds an encoded inbox for the next flush, in one queue without limits. Every
// process that reads the same bytes records the same commands.
type input struct {
	buf     *buffer
	waits   bool
	calls   []*Call // waiting for their handles, or nil
	encoded []byte
	single  []*buffer // one per call, once a flush may drop calls
	marks   marks

	decoder
}

// decoder reads calls into the queue q.
type decoder struct {
	batch    *Batch
	q        Queue
	in       digest.Reader
	call     int   // current one, from 1
	before   int   // calls of earlier inputs: made is never cleared
	ends     []int // offsets of the end of the header and of each call
	made     []made
	linked   []decodedRun
	renaming renaming
}

// made are the creates of one table by the current call.
type made struct {
	call     int // number over all inputs; else stale
	first, n int
}

// decodedRun is a run of creates whose handles wait for the end of the call.
type decodedRun struct {
	table       *Recorder
	first, next int
}

// PutInput adds the calls of an input to the batch; calls are its waiting calls, or nil. On
// error the batch is unchanged. PutInput runs visitors.
func (b *Batch) PutInput(encoded []byte, calls []*Call) error {
	p := &b.input
	// The batch has one place for an input, after all other queues.
	if p.waits {
		return fmt.Errorf("%w: the previous input was not flushed", entrance.ErrInput)
	}
	if len(encoded) == 0 && len(calls) == 0 {
		return nil
	}
	if p.buf == nil {
		p.buf = &buffer{unlimited: true}
		p.renaming.init(p.name)
	}
	b.used = true
	// Tables may have been registered since the last input.
	p.batch, p.made = b, append(p.made, make([]made, len(b.tables)-len(p.made))...)
	// The serial is new, so that a queue of an earlier input is stale.
	p.buf.begin(b, serials.Add(1), inboxPass, 0)
	p.q = Queue{buf: p.buf, serial: p.buf.serial}
	p.waits, p.calls = true, calls
	done := false
	defer func() {
		if !done { // also when a visitor panics
			p.finish()
		}
	}()
	// The bytes are read again if the flush must divide the input, so the caller must not
	// change them before.
	p.encoded = encoded
	if p.read(); p.in.Err() != nil {
		return fmt.Errorf("%w: call %d: %w", entrance.ErrInput, p.call, p.in.Err())
	}
	p.in.Reset(nil)
	p.buf.close()
	done = true
	return nil
}

// load returns the load of a waiting input.
func (p *input) load() Load {
	if !p.waits {
		return Load{}
	}
	return p.buf.load()
}

// InputHas reports whether the waiting input creates or puts items of a table.
func (b *Batch) InputHas(r *Recorder) bool {
	p := &b.input
	return p.waits && slices.ContainsFunc(p.buf.touched, func(t touched) bool { return t.ordinal == r.ordinal })
}

// finish drops the waiting input, if any.
func (p *input) finish() {
	if !p.waits {
		return
	}
	p.buf.reset()
	p.buf.close()
	p.buf.last = 0
	p.renaming.reset()
	clear(p.linked)
	p.join()
	p.waits, p.calls, p.encoded, p.linked = false, nil, nil, p.linked[:0]
	p.in.Reset(nil)
}

// read reads all calls into the common queue. in has the first error.
func (p *input) read() {
	d := &p.decoder
	n := d.begin(p.encoded)
	p.marks.ends = p.marks.ends[:0]
	if p.calls != nil && n != len(p.calls) && d.in.Err() == nil {
		d.in.Fail(fmt.Errorf("got %d calls, the input has %d", len(p.calls), n))
	}
	d.ends = append(d.ends[:0], len(p.encoded)-d.in.Remaining())
	for range n {
		if d.call++; !d.readCall() {
			return
		}
		d.ends = append(d.ends, len(p.encoded)-d.in.Remaining())
		// The bytes must be of the calls that wait, or callers would get handles of other
		// items.
		if p.calls != nil && !d.place(p.calls[d.call-1]) {
			d.in.Fail(errors.New("not the recorded call"))
			return
		}
		if p.marks.recorder != nil {
			p.marks.end(p.buf)
		}
	}
	if left := d.in.Remaining(); left > 0 {
		d.in.Fail(fmt.Errorf("%d bytes after the last call", left))
	}
}

// begin reads the header and returns the number of calls, or 0 with an error in in.
func (d *decoder) begin(encoded []byte) int {
	d.in.Reset(encoded)
	// made is of an older input unless its call is above before, so it needs no clearing.
	d.before += d.call
	d.call = 0
	if version := d.in.Uint8(); version != inputVersion {
		d.in.Fail(fmt.Errorf("version %d, want %d", version, inputVersion))
	}
	return d.in.Count(d.in.Remaining(), "calls")
}

// readCall reads one call into q and reports whether it is valid.
func (d *decoder) readCall() bool {
	d.linked = d.linked[:0]
	for parts := 0; ; parts++ {
		switch kind := d.in.Uint8(); kind {
		case partEnd:
			if parts == 0 {
				d.in.Fail(errors.New("no commands"))
			}
			if d.in.Err() == nil {
				// Only now does each create of the call have a name.
				d.link()
			}
			return d.in.Err() == nil
		case partCreates:
			d.creates()
		case partPuts:
			d.puts()
		case partErases:
			if r := d.table(); r != nil {
				d.erases(func(id handle.ID) { r.Erase(d.q, id) })
			}
		case partUnknown:
			d.erases(d.q.Erase)
		case partEraseAll:
			if r := d.table(); r != nil {
				r.EraseAll(d.q)
			}
		case partSets, partOptional:
			d.sets(kind)
		default:
			d.in.Fail(fmt.Errorf("unknown part kind %d", kind))
		}
		if d.in.Err() != nil {
			return false
		}
	}
}

// table reads a table that takes commands: a value has no typeId, and so no shard for them.
func (d *decoder) table() *Recorder {
	if n := d.in.Count(len(d.batch.tables), "as a table"); n > 0 && d.batch.tables[n-1].shards > 0 {
		return d.batch.tables[n-1]
	}
	d.in.Fail(errors.New("the table takes no commands")) // keeps an earlier error
	return nil
}

// count reads a number of commands. Each takes at least one byte, which bounds it.
func (d *decoder) count() int { return d.in.Count(d.in.Remaining(), "commands") }

// creates reads the creates of a table, in segments of the queue.
func (d *decoder) creates() {
	r := d.table()
	n := d.count()
	if d.in.Err() != nil {
		return
	}
	c := r.buffer(d.q)
	m := &d.made[r.ordinal]
	if !d.isOf(m) {
		// The first part with creates of the table in this call.
		*m = made{call: d.before + d.call, first: c.creates()}
	}
	from := m.first + m.n
	for done := 0; done < n && d.in.Err() == nil; {
		if c.current.Len() == c.current.Cap() {
			// An input has no limits, so the room suffices.
			r.room(d.q, c)
		}
		at := c.current.Len()
		run := min(n-done, c.current.Cap()-at)
		c.current = c.current.Resize(at + run) // after a failed read the queue is dropped
		// The encoder wrote a byte per item, so that the bytes bound the count.
		if r.typ.Digest.Empty() {
			d.in.Bytes(run)
		} else {
			r.typ.ReadItems(&d.in, c.current.Sub(at, at+run, r.typ.Size))
		}
		done += run
	}
	m.n += n
	if r.links.any() {
		d.linked = append(d.linked, decodedRun{r, from, from + n})
	}
}

// isOf reports whether m is of the current call.
func (d *decoder) isOf(m *made) bool { return m.call == d.before+d.call }

// creates returns the number of creates. Only the last segment of an input is not full.
func (c *tableBuffer) creates() int { return max(0, c.used-1)*segmentItems + c.current.Len() }

// puts reads the puts of a table. A put follows all creates of its call, so its names
// resolve at once.
func (d *decoder) puts() {
	r := d.table()
	n := d.count()
	for i := 0; i < n && d.in.Err() == nil; i++ {
		id := d.name(handle.ID(d.in.Uint64()))
		if d.in.Err() != nil {
			return
		}
		p := r.roomForPut(d.q, r.shard(id.TypeID()))
		at := len(p.IDs)
		p.IDs = append(p.IDs, id)
		p.Values = p.Values.Resize(at + 1)
		if r.typ.Digest.Empty() {
			d.in.Bytes(1)
			continue
		}
		v := p.Values.Pointer(at, r.typ.Size)
		if r.typ.ReadItem(&d.in, v); d.in.Err() == nil && r.links.any() {
			d.renaming.rename(&r.links, r.typ, v)
		}
	}
}

// sets reads the Sets and Unsets of an attachment.
func (d *decoder) sets(kind uint8) {
	r := d.table()
	if r == nil || len(r.attachments) == 0 {
		d.in.Fail(errors.New("the table has no attachments"))
		return
	}
	// After an error Count is 0. The attachment is then the first, and nothing is recorded.
	a := r.attachments[max(d.in.Count(len(r.attachments), "as an attachment"), 1)-1]
	if kind != a.part() {
		d.in.Fail(fmt.Errorf("part kind %d, want %d", kind, a.part()))
		return
	}
	n := d.count()
	for i := 0; i < n && d.in.Err() == nil; i++ {
		id := d.name(handle.ID(d.in.Uint64()))
		if d.in.Err() != nil {
			return
		}
		if a.optional && !d.isSet() {
			if d.in.Err() == nil {
				a.Unset(d.q, id)
			}
			continue
		}
		// The memory may hold a value of an earlier batch.
		v := a.Set(d.q, id)
		a.typ.Zero(v)
		if a.typ.Digest.Empty() {
			d.in.Bytes(1)
			continue
		}
		if a.typ.ReadItem(&d.in, v); d.in.Err() == nil && a.links.any() {
			d.renaming.rename(&a.links, a.typ, v)
		}
	}
}

// isSet reads the mark of a Set or Unset.
func (d *decoder) isSet() bool {
	b := d.in.Uint8()
	if b > 1 {
		d.in.Fail(fmt.Errorf("%d is neither a Set nor an Unset", b))
	}
	return b == 1
}

// erases reads handles and calls erase with each.
func (d *decoder) erases(erase func(id handle.ID)) {
	n := d.count()
	for i := 0; i < n && d.in.Err() == nil; i++ {
		if id := handle.ID(d.in.Uint64()); d.in.Err() == nil {
			erase(d.name(id))
		}
	}
}

// Creates of a call may name each other in any order. link names the handles in the creates
// of the call.
func (d *decoder) link() {
	for _, run := range d.linked {
		// The array may have moved since the create was read, so the place is computed now.
		c := d.q.buf.tables[run.table.ordinal]
		c.seal()
		for i := run.first; i < run.next; i++ {
			d.renaming.rename(&run.table.links, run.table.typ, c.segments[i/segmentItems].values.Pointer(i%segmentItems, run.table.typ.Size))
		}
	}
}

// name returns the handle for an encoded handle: a name in q, or a handle that stays stale.
func (d *decoder) name(id handle.ID) handle.ID {
	if !id.IsProvisional() {
		return id
	}
	stale := id >> typeShift << typeShift
	list, number := d.batch.eraseList(id.TypeID()), int64(id&(1<<typeShift-1))
	if list == 0 {
		return stale
	}
	r := d.batch.byList[list]
	m := d.made[r.ordinal]
	// Only creates of the same call resolve; all other names are stale.
	if !r.isProvisional(id) || !d.isOf(&m) || number == 0 || number > int64(m.n) {
		return stale
	}
	return d.q.buf.tables[r.ordinal].nameOf(r, m.first+int(number)-1)
}

// nameOf returns the name of a create by its number in an input, from 0.
func (c *tableBuffer) nameOf(r *Recorder, create int) handle.ID {
	return r.name(c.segments[create/segmentItems].number) | handle.ID(create%segmentItems)
}

// place assigns creates of the input to a call, and reports whether they match.
func (d *decoder) place(c *Call) bool {
	table, next := -1, 0
	for i := range c.recorded {
		run := &c.recorded[i]
		m := d.made[run.table]
		// The runs of a call are ordered by table, and creates of one table are adjacent.
		if run.table != table {
			table, next = run.table, m.first
		}
		run.at = next
		if next += run.n; !d.isOf(&m) || next > m.first+m.n {
			return false
		}
	}
	return true
}

// applied notes the handles of the creates in the calls that wait, as [Batch.Applied] does.
func (p *input) applied(b *Batch) {
	for i, c := range p.calls {
		buf := p.buf
		if len(p.single) > 0 {
			if buf = p.single[i]; buf.state == dropped {
				c.dropped = buf.cause
				continue
			}
			// PutInput has placed the creates in the common queue.
			c.placeAlone()
		}
		c.created = make([]createRun, len(c.recorded))
		for i, run := range c.recorded {
			c.created[i] = createRun{run.name, createdBy(buf, b.tables[run.table], run.at, run.n)}
		}
		c.sort()
	}
	p.calls = nil
}

// placeAlone places the creates as in a queue of the call alone.
func (c *Call) placeAlone() {
	for i := range c.recorded {
		run := &c.recorded[i]
		if run.at = 0; i > 0 && c.recorded[i-1].table == run.table {
			run.at = c.recorded[i-1].at + c.recorded[i-1].n
		}
	}
}

// createdBy returns the handles of the n creates of a queue from at on.
func createdBy(buf *buffer, r *Recorder, at, n int) []handle.ID {
	ids := make([]handle.ID, 0, n)
	c := buf.tables[r.ordinal]
	for next := at + n; at < next; {
		created := r.Pending.createdIn(c.segments[at/segmentItems].number)[at%segmentItems:]
		created = created[:min(len(created), next-at)]
		ids = append(ids, created...)
		at += len(created)
	}
	return ids
}
