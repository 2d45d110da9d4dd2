package store

import (
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// What the tasks of chunks erase is recorded by row, and a flush takes it as it is: to find
// the handle of each item, and then its row again, would cost more than the erase (op=storm).
// Rows are good until a Write changes the table. Its first change puts handles in their
// place, and so does each pass that ends within the Write behind that: of what it changes
// further, through maps that it was lent perhaps, the table is not told.

// endTask records the erases of the task of a chunk, unless that failed, and returns its
// error.
func (p *pass) endTask(chunk int) error {
	err := p.queues.Failed(chunk)
	if err == nil {
		shard, _, _ := p.chunks.find(chunk)
		p.table.eraseRows(p.queues.Queue(chunk), shard)
	}
	return err
}

// eraseRows records the erases of the rows that were added to a queue. A stable table has
// erases by handle alone.
func (t *table) eraseRows(q batch.Queue, shard int) {
	if t.lookups.packed == nil {
		return
	}
	t.recorder.EraseRows(q, shard)
	if check.Full && t.lookups.packed != nil {
		q.Audit(t.packed(shard).IDsAt)
	}
}

// nameRows puts handles in the place of the rows that are to be erased.
func (t *table) nameRows() { t.store.batch.ResolveRows(&t.recorder, t.idsAt) }

// nameIfChanged does so for a pass within a Write that has changed the table.
func (t *table) nameIfChanged(p *phase, queues *batch.Pass) {
	if s := t.store; s.written[t.ordinal] == s.writes && p.insideWrite() {
		queues.ResolveRows(&t.recorder, t.idsAt)
	}
}

func (t *table) idsAt(shard int, rows []uint32, ids []ID) { t.packed(shard).IDsAt(rows, ids) }

// insideWrite reports whether a Write is around the phase.
func (p *phase) insideWrite() bool {
	for ; p != nil; p = p.outer {
		if p.op == opWrite {
			return true
		}
	}
	return false
}

// auditRows panics when an erase by row is no more of the item that it was recorded for.
func (t *table) auditRows() {
	for shard := range t.order {
		for _, erases := range t.recorder.Pending.Erases(shard) {
			for i, row := range erases.Rows {
				if is := t.packed(shard).IDAt(int(row)); is != erases.Audits[i] {
					panic(fmt.Sprintf("checked build: table %q: the erase of %v, at row %d of shard %d, has become that of %v", t.name, erases.Audits[i], row, shard, is))
				}
			}
		}
	}
}
