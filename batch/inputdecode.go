package batch

import (
	"errors"
	"fmt"
	"slices"

	"handloom/internal/digest"
	"handloom/internal/hook"
	"handloom/shard/handle"
)

// input holds an encoded inbox for the next flush, in one queue without limits.
type input struct {
	buf     *buffer
	waits   bool
	calls   []*Call // waiting for their handles, or nil
	encoded []byte
	single  []*buffer // one per call, once a flush may drop calls
	marks   marks

	decoder
}

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

type made struct {
	call     int // number over all inputs; else stale
	first, n int
}

type decodedRun struct {
	table       *Recorder
	first, next int
}

// PutInput adds the calls of an input to the batch; calls are its waiting calls, or nil. On
// error the batch is unchanged. PutInput runs visitors.
func (b *Batch) PutInput(encoded []byte, calls []*Call) error {
	p := &b.input
	if p.waits {
		return fmt.Errorf("%w: the previous input was not flushed", hook.ErrInput)
	}
	if len(encoded) == 0 && len(calls) == 0 {
		return nil
	}
	if p.buf == nil {
		p.buf = &buffer{unlimited: true}
		p.renaming.init(p.name)
	}
	b.used = true
	p.batch, p.made = b, append(p.made, make([]made, len(b.tables)-len(p.made))...)
	p.buf.begin(b, serials.Add(1), inboxPass, 0)
	p.q = Queue{buf: p.buf, serial: p.buf.serial}
	p.waits, p.calls = true, calls
	done := false
	defer func() {
		if !done { // also when a visitor panics
			p.finish()
		}
	}()
	p.encoded = encoded
	if p.read(); p.in.Err() != nil {
		return fmt.Errorf("%w: call %d: %w", hook.ErrInput, p.call, p.in.Err())
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

func (d *decoder) readCall() bool {
	d.linked = d.linked[:0]
	for parts := 0; ; parts++ {
		switch kind := d.in.Uint8(); kind {
		case partEnd:
			if parts == 0 {
				d.in.Fail(errors.New("no commands"))
			}
			if d.in.Err() == nil {
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

// table reads a table, or nil.
func (d *decoder) table() *Recorder {
	if n := d.in.Count(len(d.batch.tables), "as a table"); n > 0 {
		return d.batch.tables[n-1]
	}
	return nil
}

func (d *decoder) count() int { return d.in.Count(d.in.Remaining(), "commands") }

func (d *decoder) creates() {
	r := d.table()
	n := d.count()
	if d.in.Err() != nil {
		return
	}
	c := r.column(d.q)
	m := &d.made[r.ordinal]
	if !d.isOf(m) {
		*m = made{call: d.before + d.call, first: c.creates()}
	}
	from := m.first + m.n
	for done := 0; done < n && d.in.Err() == nil; {
		if c.current.Len() == c.current.Cap() {
			r.room(d.q, c)
		}
		at := c.current.Len()
		run := min(n-done, c.current.Cap()-at)
		c.current = c.current.Resize(at + run) // a failed read leaves zeros
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

func (d *decoder) isOf(m *made) bool { return m.call == d.before+d.call }

// Only the last segment of an input is not full.
func (c *tableBuffer) creates() int { return max(0, c.used-1)*segmentItems + c.current.Len() }

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

func (d *decoder) sets(kind uint8) {
	r := d.table()
	if r == nil || len(r.attachments) == 0 {
		d.in.Fail(errors.New("the table has no attachments"))
		return
	}
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

func (d *decoder) isSet() bool {
	b := d.in.Uint8()
	if b > 1 {
		d.in.Fail(fmt.Errorf("%d is neither a Set nor an Unset", b))
	}
	return b == 1
}

func (d *decoder) erases(erase func(id handle.ID)) {
	n := d.count()
	for i := 0; i < n && d.in.Err() == nil; i++ {
		if id := handle.ID(d.in.Uint64()); d.in.Err() == nil {
			erase(d.name(id))
		}
	}
}

// Creates of a call may name each other in any order.
func (d *decoder) link() {
	for _, run := range d.linked {
		c := d.q.buf.columns[run.table.ordinal]
		c.seal()
		for i := run.first; i < run.next; i++ {
			d.renaming.rename(&run.table.links, run.table.typ, c.segments[i/segmentItems].values.Pointer(i%segmentItems, run.table.typ.Size))
		}
	}
}

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
	return d.q.buf.columns[r.ordinal].nameOf(r, m.first+int(number)-1)
}

func (c *tableBuffer) nameOf(r *Recorder, create int) handle.ID {
	return r.name(c.segments[create/segmentItems].number) | handle.ID(create%segmentItems)
}

// place assigns creates of the input to a call, and reports whether they match.
func (d *decoder) place(c *Call) bool {
	table, next := -1, 0
	for i := range c.recorded {
		run := &c.recorded[i]
		m := d.made[run.table]
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

func (p *input) applied(b *Batch, epoch uint64) {
	for i, c := range p.calls {
		c.Epoch = epoch
		buf := p.buf
		if len(p.single) > 0 {
			if buf = p.single[i]; buf.state == dropped {
				c.dropped = buf.cause
				continue
			}
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

func (c *Call) placeAlone() {
	for i := range c.recorded {
		run := &c.recorded[i]
		if run.at = 0; i > 0 && c.recorded[i-1].table == run.table {
			run.at = c.recorded[i-1].at + c.recorded[i-1].n
		}
	}
}

func createdBy(buf *buffer, r *Recorder, at, n int) []handle.ID {
	ids := make([]handle.ID, 0, n)
	c := buf.columns[r.ordinal]
	for next := at + n; at < next; {
		created := r.Pending.createdIn(c.segments[at/segmentItems].number)[at%segmentItems:]
		created = created[:min(len(created), next-at)]
		ids = append(ids, created...)
		at += len(created)
	}
	return ids
}
