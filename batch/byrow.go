package batch

import "handloom/shard/handle"

// byRow holds the erases of a chunk's task as rows of its shard. Looking up the handle of
// each row would cost a cache miss each (op=storm), and a flush needs the row anyway. Rows
// are valid until the table changes. [Pass.ResolveRows] replaces them by handles before any
// change except a flush.
type byRow struct {
	rows   []uint32
	list   int         // erase list of the shard; 0: the task has not ended, and rows do not count
	audits []handle.ID // handles of the rows; checked builds only
}

// Rows returns the slice to which a chunk's task appends the rows that it erases.
// [Recorder.EraseRows] follows.
func (q Queue) Rows() *[]uint32 { return &q.buf.byRow.rows }

// EraseRows records erases of the rows of the queue, which are rows of the given shard. It
// is called once, after all rows are added.
func (r *router) EraseRows(q Queue, shard int) {
	buf := q.buf
	erases := &buf.byRow
	if q.serial != buf.serial { // the queue has failed
		erases.rows = erases.rows[:0]
	}
	if len(erases.rows) == 0 {
		return
	}
	erases.list, buf.holds = r.list+shard, true
	buf.room.add(Load{len(erases.rows), int64(len(erases.rows)) * idBytes})
}

// Audit stores the handles of the rows of the last [Recorder.EraseRows]. A checked flush
// compares them.
func (q Queue) Audit(name func(rows []uint32, ids []handle.ID)) {
	erases := &q.buf.byRow
	erases.audits = make([]handle.ID, len(erases.rows))
	name(erases.rows, erases.audits)
}

// ResolveRows turns the pass's erases by row for a table into erases by handle. It is
// called before rows move. name writes the handles of rows of a shard to ids.
func (p *Pass) ResolveRows(r *Recorder, name func(shard int, rows []uint32, ids []handle.ID)) {
	for task := range p.buffers[:p.tasks] {
		buf := &p.buffers[task]
		erases := &buf.byRow
		shard := erases.list - r.list
		if len(erases.rows) == 0 || shard < 0 || shard >= int(r.shards) {
			continue
		}
		ids := buf.erasesIn(erases.list, len(erases.rows))
		n := len(*ids)
		*ids = (*ids)[:n+len(erases.rows)]
		name(shard, erases.rows, (*ids)[n:])
		erases.drop()
	}
}

// ResolveRows calls [Pass.ResolveRows] for all passes of the batch.
func (b *Batch) ResolveRows(r *Recorder, name func(shard int, rows []uint32, ids []handle.ID)) {
	for _, p := range b.order {
		p.ResolveRows(r, name)
	}
}

func (e *byRow) drop() { e.rows, e.list, e.audits = e.rows[:0], 0, nil }
