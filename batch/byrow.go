package batch

import "handloom/shard/handle"

// byRow are the erases of a task that names items by their rows of the shard whose chunk it
// has. Which handle a row has is in memory far apart, so that a task which asked for each
// would wait for each (op=storm); and a flush wants the row again. Rows are good while the
// table stays as it is. Before anything but the flush changes it, [Pass.ResolveRows] puts
// handles in their place.
type byRow struct {
	rows   []uint32
	list   int         // the erase list that handles would go to; 0: the task has not ended, and rows do not count
	audits []handle.ID // checked builds: the handles of the rows
}

// Rows returns where the task of a chunk adds the rows that it erases, before
// [Recorder.EraseRows].
func (q Queue) Rows() *[]uint32 { return &q.buf.byRow.rows }

// EraseRows records that the items at the rows of the queue are to be erased; they are rows
// of one shard. It is called when all are added.
func (r *router) EraseRows(q Queue, shard int) {
	buf := q.buf
	of := &buf.byRow
	if q.serial != buf.serial { // the queue has failed
		of.rows = of.rows[:0]
	}
	if len(of.rows) == 0 {
		return
	}
	of.list, buf.holds = r.list+shard, true
	buf.room.add(Load{len(of.rows), int64(len(of.rows)) * idBytes})
}

// Audit keeps the handles of rows that [Recorder.EraseRows] has just recorded, for checked
// builds to compare when they are flushed.
func (q Queue) Audit(name func(rows []uint32, ids []handle.ID)) {
	of := &q.buf.byRow
	of.audits = make([]handle.ID, len(of.rows))
	name(of.rows, of.audits)
}

// ResolveRows makes erases by handle of those by row that the pass has for a table, because its
// rows are about to move. name puts the handles of the items at some rows of a shard into
// ids.
func (p *Pass) ResolveRows(r *Recorder, name func(shard int, rows []uint32, ids []handle.ID)) {
	for task := range p.buffers[:p.tasks] {
		buf := &p.buffers[task]
		of := &buf.byRow
		shard := of.list - r.list
		if len(of.rows) == 0 || shard < 0 || shard >= int(r.shards) {
			continue
		}
		ids := buf.erasesIn(of.list, len(of.rows))
		n := len(*ids)
		*ids = (*ids)[:n+len(of.rows)]
		name(shard, of.rows, (*ids)[n:])
		of.drop()
	}
}

// ResolveRows does so for all passes of the batch.
func (b *Batch) ResolveRows(r *Recorder, name func(shard int, rows []uint32, ids []handle.ID)) {
	for _, p := range b.order {
		p.ResolveRows(r, name)
	}
}

func (e *byRow) drop() { e.rows, e.list, e.audits = e.rows[:0], 0, nil }
