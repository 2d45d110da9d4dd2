package store

import (
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// Tasks of chunks record erases by row, and a flush uses the rows directly: translation
// into handles and back would cost more than the erase (op=storm). Rows are valid until a
// Write or Frame changes the table. Its first change replaces them by handles. Each later
// pass of that Frame replaces its own rows, because further changes only count a version.

// endTask records the erases of a chunk's task, unless the task failed, and returns its
// error.
func (p *pass) endTask(chunk int) error {
	err, q := p.queues.Failed(chunk), p.queues.Queue(chunk)
	if err == nil && len(*q.Rows()) > 0 {
		shard, _, _ := p.chunks.find(chunk)
		p.table.eraseRows(q, shard)
	}
	return err
}

// eraseRows records the erases of the rows that were added to a queue. Stable tables
// erase by handle only.
func (t *table) eraseRows(q batch.Queue, shard int) {
	if t.lookups.packed == nil {
		return
	}
	t.recorder.EraseRows(q, shard)
	if check.Full && t.lookups.packed != nil {
		q.Audit(t.packed(shard).IDsAt)
	}
}

// resolveRows replaces the rows to be erased by handles.
func (t *table) resolveRows() { t.store.batch.ResolveRows(&t.recorder, t.idsAt) }

// resolveIfChanged replaces rows by handles in a pass inside a Frame that has changed the
// table.
func (t *table) resolveIfChanged(p *phase, queues *batch.Pass) {
	if s := t.store; s.written[t.ordinal] == s.writes && p.insideFrame() {
		queues.ResolveRows(&t.recorder, t.idsAt)
	}
}

func (t *table) idsAt(shard int, rows []uint32, ids []ID) { t.packed(shard).IDsAt(rows, ids) }

func (p *phase) insideFrame() bool {
	for ; p != nil; p = p.outer {
		if p.op == opFrame {
			return true
		}
	}
	return false
}

// auditRows panics if a row to be erased no longer holds the item it was recorded for.
func (t *table) auditRows() {
	for shard := range t.order {
		for _, erases := range t.recorder.Pending.Erases(shard) {
			for i, row := range erases.Rows {
				if is := t.packed(shard).IDAt(int(row)); is != erases.Audits[i] {
					panic(fmt.Sprintf("checked build: table %q: erase of %v at row %d of shard %d would erase %v", t.name, erases.Audits[i], row, shard, is))
				}
			}
		}
	}
}
