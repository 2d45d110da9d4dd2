package store

import (
	"context"

	"handloom/batch"
	"handloom/shard"
)

// Chunk is a run of rows of a table given to one task.
type Chunk[T any] struct {
	Items []T   // the task may write them; capacity equals length
	Queue Queue // the task's own
	Index int   // of the chunk in the pass; depends on row counts alone, and seeds random numbers well

	table *Table[T]
	shard *shard.Shard[T]
	row   int // of Items[0] in the shard
}

// Handle returns the handle of Items[i].
func (c Chunk[T]) Handle(i int) Handle[T] {
	_ = c.Items[i] // the rows behind the chunk belong to others
	return c.shard.HandleAt(c.row + i)
}

// Erase records that Items[i] is to be erased.
func (c Chunk[T]) Erase(i int) { c.table.Erase(c.Queue, c.Handle(i)) }

// ForEach runs f for every chunk of the table, in parallel. A chunk's rows are
// that task's alone: it may write them and read anything that nobody writes in
// this pass. Where chunks begin depends on row counts and on the table's chunk
// size alone, never on the number of workers.
//
// All chunks are visited, whatever happens in one of them; then the error of the
// lowest is returned, a panic as a [*PanicError], and everything the pass
// recorded is dropped, while items written in place stay written. ForEach looks
// at ctx once, before the first chunk.
//
// A pass holds the store alone, or joins the Write whose context it is given.
// Inside a task only Reduce joins, over other tables.
func (t *Table[T]) ForEach(ctx context.Context, f func(ctx context.Context, c Chunk[T]) error) error {
	p, err := t.store.enter(ctx, opForEach)
	if err != nil {
		return err
	}
	defer p.leave()
	p.writes = t
	pass := &t.pass
	n := pass.chunks.cut(t)
	pass.ctx, pass.f, pass.queues = p, f, t.store.batch.Begin(n)
	defer pass.release()
	return t.store.runPass(p, pass.queues, n, pass.task)
}

// forEachPass is the state of the table's pass that runs; the table keeps it, so
// that a pass allocates nothing but its phase.
type forEachPass[T any] struct {
	table  *Table[T]
	ctx    context.Context
	f      func(context.Context, Chunk[T]) error
	queues *batch.Pass
	chunks chunking
	task   func(int) error // run, bound once
}

func (p *forEachPass[T]) init(t *Table[T]) {
	p.table = t
	p.task = p.run
}

func (p *forEachPass[T]) run(task int) error {
	s, lo, hi := p.chunks.find(task)
	sh := p.table.order[s]
	hi = min(hi, sh.Len())
	return p.f(p.ctx, Chunk[T]{
		Items: sh.Items()[lo:hi:hi], Queue: p.queues.Queue(task), Index: task,
		table: p.table, shard: sh, row: lo,
	})
}

func (p *forEachPass[T]) release() { p.ctx, p.f, p.queues = nil, nil, nil }

// chunking says where the chunks of a table begin.
type chunking struct {
	rows   int // of a chunk; the last of a shard may have fewer
	shards int
	ends   [MaxShards]int // chunks up to and including each shard's
}

// cut computes the chunks and returns their number.
func (c *chunking) cut(t interface {
	typeIDs() (uint16, int)
	shardLen(int) int
	chunkSize() int
},
) int {
	c.rows = t.chunkSize()
	_, c.shards = t.typeIDs()
	n := 0
	for s := range c.shards {
		if rows := t.shardLen(s); rows > 0 {
			n += (rows-1)/c.rows + 1 // c.rows may be as large as an int can be
		}
		c.ends[s] = n
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

func (t *Table[T]) shardLen(i int) int { return t.order[i].Len() }

func (t *Table[T]) chunkSize() int { return t.chunk }
