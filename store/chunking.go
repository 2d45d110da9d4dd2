package store

import (
	"context"
	"fmt"
	"math"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
)

// pass is a running ForEach or ForEachRows. The table keeps it, so that a pass allocates
// only its phase. Several ForEachRows can run at the same time, each with its own.
type pass struct {
	table  *table
	phase  *phase
	f      func(untyped) // a function of the chunk
	task   func(int) error
	queues *batch.Pass
	chunks chunking
	n      int
	serial uint32         // incremented by each pass, so that use of an old chunk is detected
	wrote  []columnWrites // by chunk
	peak   highwater.Mark // of wrote
}

// reducing is the pass of the chunks of all Reduces. No chunk has its serial, so methods
// that do not only read panic.
var reducing = pass{serial: math.MaxUint32}

func (p *pass) init(t *table) *pass {
	p.table, p.task = t, p.run
	return p
}

func (p *pass) find(chunk int) (shard, lo, hi int) {
	shard, lo, hi = p.chunks.find(chunk)
	return shard, lo, min(hi, p.table.order[shard].Map.Rows())
}

// enterPass begins a ForEach or ForEachRows and cuts its chunks. On success [pass.record]
// and [pass.leave] must follow.
func (t *table) enterPass(ctx context.Context, op operation) (p *pass, err error) {
	ph, err := t.store.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			ph.leave()
		}
	}()
	if op == opForEach {
		p, ph.writes = &t.pass, t
		if check.Cheap {
			err = ph.mayWrite("runs ForEach over", t)
		}
	} else {
		p, ph.writesColumns = t.takePass(), t
		if check.Cheap {
			err = ph.mayRead(t)
		}
	}
	if err != nil {
		return nil, err
	}
	p.n = t.cut(&p.chunks)
	if p.queues, err = t.store.begin(ph, p.n); err != nil {
		return nil, fmt.Errorf("store: %v of table %q: %w", op, t.name, err)
	}
	p.phase = ph
	return p, nil
}

// forEach runs f, a function of a [Chunk] or [StableChunk], for every chunk.
func (t *table) forEach(ctx context.Context, op operation, f func(untyped)) error {
	p, err := t.enterPass(ctx, op)
	if err != nil {
		return err
	}
	defer p.leave()
	p.f = f
	return p.record(p.task)
}

// run calls the user function with its chunk; see untyped.
func (p *pass) run(index int) error {
	if f := unsafe.Pointer(&p.f); p.table.lookups.packed != nil {
		(*(*func(Chunk[untyped]))(f))(p.chunk(index))
	} else {
		(*(*func(StableChunk[untyped]))(f))(p.stableChunk(index))
	}
	return p.endTask(index)
}

// record runs the tasks.
func (p *pass) record(task func(int) error) error {
	t := p.table
	defer p.phase.trace(t.name).end()
	if p.phase.writes == t && (t.tracked || t.lookups.packed != nil) {
		t.written.begin(p.n)
		defer t.finishNotes(p.phase, p.n)
	}
	if t.tracked && len(t.columns) > 0 {
		p.beginNotes(p.n)
		defer p.finish(p.n)
	}
	err := t.store.runPass(p.phase, p.queues, p.n, task)
	t.resolveIfChanged(p.phase, p.queues)
	return err
}

func (p *pass) leave() {
	ph := p.phase
	p.phase, p.f, p.queues = nil, nil, nil
	p.serial++
	if ph.op == opForEachRows {
		p.table.passes.Put(p)
	}
	ph.leave()
}

// wrongChunk is the panic value of a chunk's methods when its pass only reads or is over:
// its rows may belong to other tasks by then, or be gone. It is a value, not a call, so that
// they inline.
type wrongChunk struct {
	method string
	index  int
	pass   *pass
}

func (w wrongChunk) Error() string {
	switch p := w.pass; {
	case p == &reducing:
		return fmt.Sprintf("store: %s with a chunk of a Reduce, which only reads; call it in a ForEach", w.method)
	case p.phase != nil && p.phase.op == opForEachRows:
		return fmt.Sprintf("store: %s with a chunk of a ForEachRows, which only reads items of table %q; call it in a ForEach", w.method, p.table.name)
	default:
		return savedChunk{w.method, w.index, p.table.name}.Error()
	}
}

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
