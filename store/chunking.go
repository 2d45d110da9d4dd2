package store

import (
	"context"
	"fmt"

	"handloom/batch"
	"handloom/internal/canary"
	"handloom/internal/check"
)

// pass is the state of a table's ForEach that runs; the table keeps it, so that
// a pass allocates nothing but its phase. C is what a task is given of the rows.
type pass[T, C any] struct {
	table  *tableBase[T]
	chunk  func(shard, lo, hi, index int, q Queue) C
	task   func(int) error // run, bound once
	ctx    context.Context
	f      func(context.Context, C) error
	queues *batch.Pass
	chunks chunking

	serial uint32 // of the pass that runs, so that a chunk kept past its own is told

	before, after func(chunks int) // what the kind of table does around a pass; may be nil
}

func (p *pass[T, C]) init(t *tableBase[T], chunk func(shard, lo, hi, index int, q Queue) C) {
	p.table, p.chunk, p.task = t, chunk, p.run
}

func (p *pass[T, C]) forEach(ctx context.Context, f func(context.Context, C) error) error {
	s := p.table.store
	ph, err := s.enter(ctx, opForEach)
	if err != nil {
		return err
	}
	defer ph.leave()
	defer ph.trace(p.table.name).end()
	ph.writes = p.table
	if check.Cheap {
		if err := ph.mayWrite(p.table); err != nil {
			return err
		}
	}
	n := cut(&p.chunks, p.table)
	queues, err := s.begin(ph.systemOf(), n)
	if err != nil {
		return fmt.Errorf("store: ForEach of table %q: %w", p.table.name, err)
	}
	p.ctx, p.f, p.queues = ph, f, queues
	defer p.release()
	if p.before != nil {
		p.before(n)
		defer p.after(n)
	}
	return s.runPass(ph, p.queues, n, p.task)
}

func (p *pass[T, C]) run(task int) error {
	shard, lo, hi := p.chunks.find(task)
	hi = min(hi, p.table.order[shard].Map.Rows())
	return p.f(p.ctx, p.chunk(shard, lo, hi, task, p.queues.Queue(task)))
}

func (p *pass[T, C]) release() {
	p.ctx, p.f, p.queues = nil, nil, nil
	p.serial++
}

// keptChunk is what the methods of a chunk panic with when its pass has ended: its
// rows may be those of other tasks by then, or gone. It is a value and no call, so
// that they inline.
type keptChunk struct {
	method string
	index  int
	table  string
}

func (k keptChunk) Error() string {
	return fmt.Sprintf("store: %s of chunk %d of table %q, which was kept past its pass; "+
		"use the chunk that the current pass gives to its task", k.method, k.index, k.table)
}

// chunking says where the chunks of a table begin.
type chunking struct {
	rows int            // of a chunk; the last of a shard may have fewer
	ends [MaxShards]int // chunks up to and including each shard's
}

// cut computes the chunks of t and returns their number.
func cut[T any](c *chunking, t *tableBase[T]) int {
	c.rows = t.chunk
	if canary.Enabled && canary.On(canary.ChunksByWorkers) {
		c.rows = t.Len()/max(1, t.store.options.Workers) + 1
	}
	n := 0
	for i, sh := range t.order {
		switch rows := sh.Map.Rows(); {
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
