package store

import "handloom/internal/highwater"

// touched are the rows that tasks of a pass touched. Tasks of neighbouring chunks must
// not write one bitmap, so each has its own list, read after the pass. Only packed tables
// use it.
type touched struct {
	table     *table
	fixedKeys bool
	chunkNotes
}

// chunkNotes are the notes of a pass, by chunk.
type chunkNotes struct {
	chunks []notes
	peak   highwater.Mark // number of chunks
	used   bool           // since the last trimIfUnused
}

// trimIfUnused releases the memory unless it was used since the last call, and reports
// whether it did.
func (l *chunkNotes) trimIfUnused() bool {
	if l.used {
		l.used = false
		return false
	}
	*l = chunkNotes{}
	return true
}

// notes are the rows that one task touched or wrote.
type notes struct {
	rows []int
	all  bool // all rows of the chunk
	peak highwater.Mark
	_    [24]byte // neighbours are written by different workers
}

const fewChunks = 64 // number of chunks whose notes are always kept

// begin makes a list for each of n chunks, and trims lists past them.
func (l *chunkNotes) begin(n int) {
	l.used = true
	if n > len(l.chunks) {
		l.chunks = append(l.chunks, make([]notes, n-len(l.chunks))...)
	}
	for chunk := n; chunk < len(l.chunks); chunk++ {
		l.chunks[chunk].forget()
	}
	if len(l.chunks) <= fewChunks {
		return
	}
	if keep := l.peak.Note(n, fewChunks); len(l.chunks) > keep {
		l.chunks = append(make([]notes, 0, keep), l.chunks[:keep]...)
	}
}

func (n *notes) forget() {
	if cap(n.rows) > 0 {
		n.rows = highwater.Trim(&n.peak, n.rows)
	}
}

func (t *touched) init(table *table, fixedKeys bool) { t.table, t.fixedKeys = table, fixedKeys }

// finish reports the touched rows of n chunks to the maps, also after a failure, because
// writes in place stay.
func (t *touched) finish(n int) {
	any := false
	for chunk := range t.chunks[:n] {
		notes := &t.chunks[chunk]
		for _, row := range notes.rows {
			shard, _, _ := t.table.pass.chunks.find(chunk)
			t.table.packed(shard).TouchRows(row, row+1)
		}
		any = any || len(notes.rows) > 0
		notes.forget()
	}
	if any || t.fixedKeys {
		return
	}
	for shard := range t.table.order {
		m := t.table.packed(shard)
		m.TouchRows(0, m.Len())
	}
}
