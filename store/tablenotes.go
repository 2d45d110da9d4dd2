package store

import "handloom/internal/highwater"

// touched is what the tasks of a pass say they changed, kept from pass to pass.
// Tasks of neighbouring chunks may not write to one bitmap, so each notes rows in
// a list of its own, and the lists are read when the pass is over. Only packed
// tables have any.
type touched struct {
	table     *table
	fixedKeys bool
	chunkNotes
}

// chunkNotes are the notes of a pass, by chunk.
type chunkNotes struct {
	chunks []notes
	peak   highwater.Mark // of how many there are
	used   bool           // since it was asked whether it rests
}

// rest gives up the memory, unless it was used since it was asked last, and reports
// whether it did.
func (l *chunkNotes) rest() bool {
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
	all  bool // rows of the chunk
	peak highwater.Mark
	_    [24]byte // neighbours are written by different workers
}

const fewChunks = 64 // whose notes are kept anyway

// begin makes a list for each of n chunks, and trims the lists of other chunks, left by
// passes over a larger table.
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

// forget empties the notes.
func (n *notes) forget() {
	if cap(n.rows) > 0 {
		n.rows = highwater.Trim(&n.peak, n.rows)
	}
}

func (t *touched) init(table *table, fixedKeys bool) { t.table, t.fixedKeys = table, fixedKeys }

// finish tells the maps what changed in a pass of n chunks, whether it failed or
// not: what was written in place stays.
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
