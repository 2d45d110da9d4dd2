package store

import (
	"context"
	"fmt"

	"handloom/batch"
	"handloom/internal/check"
)

// pass is the state of a running ForEach. The table keeps it, so that a pass allocates
// only its phase. The typed shell knows the rest of a task's arguments.
type pass struct {
	table  *table
	task   func(int) error // bound once by the shell
	ctx    context.Context
	queues *batch.Pass
	chunks chunking
	n      int
	serial uint32 // incremented by each pass, so that use of an old chunk is detected
}

func (p *pass) init(t *table, task func(int) error) { p.table, p.task = t, task }

func (p *pass) find(chunk int) (shard, lo, hi int) {
	shard, lo, hi = p.chunks.find(chunk)
	return shard, lo, min(hi, p.table.order[shard].Map.Rows())
}

// enterForEach begins a ForEach and cuts its chunks. On success [table.forEach] and
// [table.leaveForEach] must follow.
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
	t.resolveIfChanged(ph, p.queues)
	return err
}

func (t *table) leaveForEach(ph *phase) {
	t.pass.ctx, t.pass.queues = nil, nil
	t.pass.serial++
	ph.leave()
}

// savedChunk is the panic value of a chunk's methods after its pass: its rows may belong
// to other tasks by then, or be gone. It is a value, not a call, so that they inline.
type savedChunk struct {
	method string
	index  int
	table  string
}

func (k savedChunk) Error() string {
	return fmt.Sprintf("store: %s of chunk %d of table %q: kept past its pass; "+
		"use the chunk of the current task", k.method, k.index, k.table)
}

// notInChunk is the panic value of Wrote of a stable chunk; a value to allow inlining.
type notInChunk struct {
	id    ID
	index int
	table string
}

func (n notInChunk) Error() string {
	return fmt.Sprintf("store: Wrote of %v, which is not in chunk %d of table %q; use items from the chunk's All", n.id, n.index, n.table)
}

// chunking has the bounds of the chunks of a table.
type chunking struct {
	rows int   // rows per chunk; the last chunk of a shard may have fewer
	ends []int // number of chunks up to and including each shard
}

// cut computes the chunks of the table and returns their number.
func (t *table) cut(c *chunking) int {
	return c.cut(t.chunk, len(t.order), func(shard int) int { return t.order[shard].Map.Rows() })
}

// cut computes the chunks of the given number of rows and returns their number.
func (c *chunking) cut(rows, shards int, rowsOf func(shard int) int) int {
	if c.rows = rows; len(c.ends) < shards {
		c.ends = make([]int, shards)
	}
	n := 0
	for i := range shards {
		switch rows := rowsOf(i); {
		case rows > c.rows:
			n += (rows-1)/c.rows + 1 // c.rows may be the largest int
		case rows > 0:
			n++ // avoids a division (op=emptypass)
		}
		c.ends[i] = n
	}
	return n
}

// find returns the shard and rows of a chunk; hi may exceed the last row.
func (c *chunking) find(chunk int) (shard, lo, hi int) {
	begin := 0
	for c.ends[shard] <= chunk {
		begin = c.ends[shard]
		shard++
	}
	lo = (chunk - begin) * c.rows
	return shard, lo, lo + c.rows
}
