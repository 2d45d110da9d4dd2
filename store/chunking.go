package store

import (
	"context"
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// pass is the state of a table's ForEach that runs; the table keeps it, so that
// a pass allocates nothing but its phase. What a task is given of the rows, the
// typed shell of the table knows.
type pass struct {
	table  *table
	task   func(int) error // of the shell, bound once
	ctx    context.Context
	queues *batch.Pass
	chunks chunking
	n      int    // chunks
	serial uint32 // of the pass that runs, so that a chunk kept past its own is told
}

func (p *pass) init(t *table, task func(int) error) { p.table, p.task = t, task }

// find returns the rows of a chunk.
func (p *pass) find(chunk int) (shard, lo, hi int) {
	shard, lo, hi = p.chunks.find(chunk)
	return shard, lo, min(hi, p.table.order[shard].Map.Rows())
}

// enterForEach begins the phase of a ForEach over the table and cuts its chunks.
// When it succeeds, [table.forEach] and [table.leaveForEach] follow.
func (t *table) enterForEach(ctx context.Context) (*phase, error) {
	s, p := t.store, &t.pass
	ph, err := s.enter(ctx, opForEach)
	if err != nil {
		return nil, err
	}
	ph.writes = t
	if err := p.begin(ph); err != nil {
		ph.leave()
		return nil, err
	}
	return ph, nil
}

func (p *pass) begin(ph *phase) (err error) {
	t := p.table
	if check.Cheap {
		if err := ph.mayWrite("runs ForEach over", t); err != nil {
			return err
		}
	}
	p.n = t.cut(&p.chunks)
	if p.queues, err = t.store.begin(ph, p.n); err != nil {
		return fmt.Errorf("store: ForEach of table %q: %w", t.name, err)
	}
	p.ctx = ph
	return nil
}

// forEach runs the tasks of a shell, which has bound them once.
func (t *table) forEach(ph *phase, task func(int) error) error {
	defer ph.trace(t.name).end()
	p := &t.pass
	if t.lookups.packed != nil {
		t.touched.begin(p.n)
		defer t.touched.finish(p.n)
	}
	if t.tracked {
		t.written.begin(p.n)
		defer t.written.finish(ph, p.n)
	}
	err := t.store.runPass(ph, p.queues, p.n, task)
	t.nameIfChanged(ph, p.queues)
	return err
}

// leaveForEach ends the phase.
func (t *table) leaveForEach(ph *phase) {
	t.pass.ctx, t.pass.queues = nil, nil
	t.pass.serial++
	ph.leave()
}

// savedChunk is what the methods of a chunk panic with when its pass has ended: its
// rows may be those of other tasks by then, or gone. It is a value and no call, so
// that they inline.
type savedChunk struct {
	method string
	index  int
	table  string
}

func (k savedChunk) Error() string {
	return fmt.Sprintf("store: %s of chunk %d of table %q, which was kept past its pass; "+
		"use the chunk that the current pass gives to its task", k.method, k.index, k.table)
}

// notInChunk is what Wrote of a stable chunk panics with. It is a value for the same
// reason.
type notInChunk struct {
	id    ID
	index int
	table string
}

func (n notInChunk) Error() string {
	return fmt.Sprintf("store: Wrote of %v, which is not in chunk %d of table %q; note what the chunk's own All yields", n.id, n.index, n.table)
}

// chunking says where the chunks of a table begin.
type chunking struct {
	rows int            // of a chunk; the last of a shard may have fewer
	ends [MaxShards]int // chunks up to and including each shard's
}

// cut computes the chunks of the table and returns their number.
func (t *table) cut(c *chunking) int {
	return c.cut(t.chunk, len(t.order), func(shard int) int { return t.order[shard].Map.Rows() })
}

// cut computes the chunks, of so many rows each, of shards that have so many rows each, and
// returns their number.
func (c *chunking) cut(rows, shards int, rowsOf func(shard int) int) int {
	c.rows = rows
	n := 0
	for i := range shards {
		switch rows := rowsOf(i); {
		case rows > c.rows:
			n += (rows-1)/c.rows + 1 // c.rows may be as large as an int can be
		case rows > 0:
			n++ // without a division (op=emptypass)
		}
		c.ends[i] = n
	}
	return n
}

// find returns the shard of a chunk and its rows; hi may lie beyond the last.
func (c *chunking) find(chunk int) (shard, lo, hi int) {
	begin := 0
	for c.ends[shard] <= chunk {
		begin = c.ends[shard]
		shard++
	}
	lo = (chunk - begin) * c.rows
	return shard, lo, lo + c.rows
}
