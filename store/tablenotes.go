package store

import "handloom/internal/highwater"

// chunkNotes are the notes of a pass, by chunk. Tasks of neighbouring chunks must not write
// one bitmap, so each has its own list, read after the pass.
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

// notes are the rows that one task wrote.
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

// finishNotes reports the rows that n chunks wrote to the maps of a packed table, for
// Defragment, and keeps them for Written; also after a failure, because writes in place
// stay.
func (t *table) finishNotes(p *phase, n int) {
	if t.lookups.packed != nil {
		t.touch(n)
	}
	t.written.finish(p, n)
}

// touch makes Defragment look at the rows of n chunks that changed: all, unless the table has
// FixedKeys. A note alone must not restrict it, because a pass may note items for Written only.
func (t *table) touch(n int) {
	if !t.fixedKeys {
		for shard := range t.order {
			m := t.packed(shard)
			m.TouchRows(0, m.Len())
		}
		return
	}
	for chunk := range t.written.chunks[:n] {
		notes := &t.written.chunks[chunk]
		shard, lo, hi := t.pass.find(chunk)
		for _, row := range notes.rows {
			t.packed(shard).TouchRows(row, row+1)
		}
		if notes.all {
			t.packed(shard).TouchRows(lo, hi)
		}
	}
}
