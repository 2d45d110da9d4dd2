package batch

import "handloom/handle"

// byRow are a chunk's erases as rows of its shard. Handles would cost a cache miss per row
// (op=storm). [Pass.ResolveRows] replaces rows by handles before anything except a flush
// moves them.
type byRow struct {
	rows   []uint32
	list   int         // 0: the task has not ended, and rows do not count
	audits []handle.ID // checked builds: handles of the rows
}

// Rows returns the slice to which a chunk's task appends rows before [Recorder.EraseRows].
// The caller has checked that the queue is usable.
func (q Queue) Rows() *[]uint32 { return &q.buf.byRow.rows }

// EraseRows records erases of the queue's rows of a shard, once all are added.
func (r *router) EraseRows(q Queue, shard int) {
	buf := q.buf
	erases := &buf.byRow
	// The queue has failed during the task.
	if q.serial != buf.serial {
		erases.rows = erases.rows[:0]
	}
	if len(erases.rows) == 0 {
		return
	}
	erases.list, buf.holds = r.list+shard, true
	// The end of the pass compares the limits.
	buf.room.add(Load{len(erases.rows), int64(len(erases.rows)) * idBytes})
}

// Audit stores the handles of the rows, which a checked flush compares.
func (q Queue) Audit(name func(rows []uint32, ids []handle.ID)) {
	erases := &q.buf.byRow
	erases.audits = make([]handle.ID, len(erases.rows))
	name(erases.rows, erases.audits)
}

// ResolveRows turns the pass's erases by row of a table into erases by handle, before rows
// move. name writes the handles of a shard's rows to ids.
func (p *Pass) ResolveRows(r *Recorder, name func(shard int, rows []uint32, ids []handle.ID)) {
	for task := range p.buffers[:p.tasks] {
		buf := &p.buffers[task]
		erases := &buf.byRow
		shard := erases.list - r.list
		if len(erases.rows) == 0 || shard < 0 || shard >= int(r.shards) {
			continue
		}
		// EraseRows has counted the rows in room.
		ids := buf.erasesIn(erases.list, len(erases.rows))
		n := len(*ids)
		*ids = (*ids)[:n+len(erases.rows)]
		name(shard, erases.rows, (*ids)[n:])
		erases.drop()
	}
}

// ResolveRows is [Pass.ResolveRows] for all passes of the batch.
func (b *Batch) ResolveRows(r *Recorder, name func(shard int, rows []uint32, ids []handle.ID)) {
	for _, p := range b.order {
		p.ResolveRows(r, name)
	}
}

// drop forgets the rows and keeps their array.
func (e *byRow) drop() { e.rows, e.list, e.audits = e.rows[:0], 0, nil }
