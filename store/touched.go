package store

// touched is what the tasks of a pass say they changed, kept from pass to pass.
// Tasks of neighbouring chunks may not write to one bitmap, so each notes rows in
// a list of its own, and the lists are read when the pass is over.
type touched[T any] struct {
	table     *Table[T]
	fixedKeys bool
	chunks    []notes // by chunk
}

// notes are the rows that one task touched.
type notes struct {
	rows []int
	_    [40]byte // neighbours are written by different workers
}

func (t *touched[T]) init(table *Table[T], fixedKeys bool) {
	t.table, t.fixedKeys = table, fixedKeys
	table.pass.before, table.pass.after = t.begin, t.settle
}

// begin makes a list for each of n chunks.
func (t *touched[T]) begin(n int) {
	if n > len(t.chunks) {
		t.chunks = append(t.chunks, make([]notes, n-len(t.chunks))...)
	}
}

// settle tells the maps what changed in a pass of n chunks, whether it failed or
// not: what was written in place stays.
func (t *touched[T]) settle(n int) {
	any := false
	for chunk := range t.chunks[:n] {
		notes := &t.chunks[chunk]
		for _, row := range notes.rows {
			shard, _, _ := t.table.pass.chunks.find(chunk)
			t.table.mapOf(shard).TouchRows(row, row+1)
		}
		any = any || len(notes.rows) > 0
		notes.rows = notes.rows[:0]
	}
	if any || t.fixedKeys {
		return
	}
	for shard := range t.table.order {
		m := t.table.mapOf(shard)
		m.TouchRows(0, m.Len())
	}
}
