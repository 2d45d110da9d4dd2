package store

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/highwater"
)

// Each runs f for the tasks 0 to n-1 of a pass, in parallel, each with its own queue. If
// tasks fail, by [Queue.Fail] or a panic, Each runs all others, drops everything that the
// pass recorded and returns the error of the lowest task, a panic as a [*PanicError].
// Each checks ctx once, before the first task, so that a pass runs completely or not at
// all.
//
// A pass holds the store alone, or joins the Frame of its context. Only Reduce may run
// inside a task. A negative n panics.
func (s *Store) Each(ctx context.Context, n int, f func(task int, q Queue)) error {
	if n < 0 {
		panic(fmt.Sprintf("store: Each of %d tasks; n must not be negative", n))
	}
	check.Given(f != nil, "store: Each", "function")
	return s.runEach(ctx, opEach, n, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

// Do runs f as the only task of a pass, with a queue. f may also write items in place: in a
// system the items of tables in Writes, elsewhere all. Everything else is as for [Store.Each]
// with n = 1.
//
//	err := s.Do(ctx, func(q store.Queue) { ships.Emplace(q, Ship{Hull: 100}) })
func (s *Store) Do(ctx context.Context, f func(q Queue)) error {
	check.Given(f != nil, "store: Do", "function")
	return s.runEach(ctx, opDo, 1, *(*func(untyped))(unsafe.Pointer(&f))) // see untyped
}

// runEach runs an Each or a Do.
func (s *Store) runEach(ctx context.Context, op operation, n int, f func(untyped)) error {
	ph, err := s.enter(ctx, op)
	if err != nil {
		return err
	}
	p := &s.each
	if y := ph.systemOf(); y != nil {
		p = &y.each // passes of other systems may run at the same time
	}
	p.open(ph)
	defer p.leave()
	if err := p.begin(n); err != nil {
		return err
	}
	p.f = f
	return p.record(p.task)
}

// A pass is a running ForEach, ForEachRows, EraseFunc, EraseOrphans, Each or Do. A table, sparse
// data, store or system keeps it, so that a pass allocates only its phase.
type pass struct {
	domain
	phase  *phase
	region region
	f      func(untyped)   // the function of the user; run knows its type
	task   func(int) error // run, bound once
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

func (p *pass) init(d domain) *pass {
	p.domain, p.task = d, p.run
	return p
}

// enterPass begins a pass and cuts its chunks; its tasks also read other, unless that is nil. On
// success [pass.record] and [pass.leave] must follow.
func (d domain) enterPass(ctx context.Context, op operation, other *table) (*pass, error) {
	ph, err := d.table.store.enter(ctx, op)
	if err != nil {
		return nil, err
	}
	p := d.passOf(ph)
	p.open(ph)
	if check.Cheap {
		err = d.mayRun(ph, other)
	}
	if err == nil {
		err = p.begin(d.cut(&p.chunks))
	}
	if err != nil {
		p.leave()
		return nil, err
	}
	return p, nil
}

// passOf returns the pass for a phase, and tells the phase what its tasks write. Their rows have
// one pass, because a phase that writes them runs alone. Other passes may run at the same time.
func (d domain) passOf(ph *phase) *pass {
	switch t := d.table; {
	case d.sparse != nil:
		ph.writesSparse = d.sparse
		return &d.sparse.pass
	case ph.op == opForEach:
		ph.writes = t
		return &t.pass
	case ph.op == opForEachRows:
		ph.writesColumns = t
	}
	if p, ok := d.table.passes.Get().(*pass); ok {
		return p
	}
	return new(pass).init(d)
}

// mayRun returns an error if a system does not declare what the pass writes and reads.
func (d domain) mayRun(ph *phase, other *table) (err error) {
	switch {
	case d.sparse != nil:
		err = ph.mayWriteComponent(&d.sparse.component, "writes")
	case ph.op == opForEach:
		err = ph.mayWrite("runs ForEach over", d.table)
	default:
		err = ph.mayRead(d.table)
	}
	if err == nil && other != nil {
		err = ph.mayRead(other)
	}
	return err
}

func (p *pass) open(ph *phase) { p.phase, p.region = ph, ph.trace(p.name()) }

// begin obtains queues for n tasks, unless the batch is at its limit.
func (p *pass) begin(n int) (err error) {
	p.n = n
	if p.queues, err = p.phase.store.begin(p.phase, n); err != nil {
		return fmt.Errorf("store: %v%v: %w", p.phase.op, p.domain, err)
	}
	return nil
}

// forEach runs f for every chunk; see [pass.run].
func (d domain) forEach(ctx context.Context, op operation, f func(untyped)) error {
	p, err := d.enterPass(ctx, op, nil)
	if err != nil {
		return err
	}
	defer p.leave()
	p.f = f
	return p.record(p.task)
}

// run is the task of a chunk. It calls the function of the user; see untyped.
func (p *pass) run(index int) error {
	f, q := unsafe.Pointer(&p.f), Queue(p.queues.Queue(index))
	switch op := p.phase.op; {
	case op == opEach:
		(*(*func(int, Queue))(f))(index, q)
	case op == opDo:
		(*(*func(Queue))(f))(q)
	case op == opEraseFunc:
		p.eraseChunk(index, *(*func(*untyped) bool)(f))
	case p.sparse != nil:
		(*(*func(SparseChunk[untyped, untyped]))(f))(p.sparseChunk(index))
	case p.table.lookups.packed != nil:
		(*(*func(Chunk[untyped]))(f))(p.chunk(index))
	default:
		(*(*func(StableChunk[untyped]))(f))(p.stableChunk(index))
	}
	return p.endTask(index)
}

// record runs the tasks. It keeps their notes after a failure, too, because writes in place stay.
func (p *pass) record(task func(int) error) error {
	ph := p.phase
	if t := ph.writes; t != nil && (t.tracked || t.lookups.packed != nil) {
		t.written.begin(p.n)
		defer t.finishNotes(ph, p.n)
	}
	if c := ph.writesSparse; c != nil && c.tracked {
		c.written.begin(p.n)
		defer c.written.finish(ph, p.n)
	}
	if t := cmp.Or(ph.writes, ph.writesColumns); t != nil && t.tracked && len(t.columns) > 0 {
		p.beginNotes(p.n)
		defer p.finish(p.n)
	}
	err := ph.store.runPass(ph, p.queues, p.n, task)
	if p.table != nil {
		p.table.resolveIfChanged(ph, p.queues)
	}
	return err
}

func (p *pass) leave() {
	ph := p.phase
	p.region.end()
	p.phase, p.region, p.f, p.queues = nil, region{}, nil, nil
	p.serial++
	if op := ph.op; op == opForEachRows || op == opEraseFunc || op == opOrphans {
		p.table.passes.Put(p)
	}
	ph.leave()
}

// runPass runs the tasks of a pass and closes its queues. It drops their commands unless
// every task succeeded, also when the caller's goroutine ends inside a task.
func (s *Store) runPass(p *phase, queues *batch.Pass, n int, task func(int) error) (err error) {
	if check.Full {
		defer s.watch(p)()
	}
	if s.probe != nil {
		task = s.probe.pass(p, queues, task)
	}
	failed := true
	defer func() {
		if full := queues.End(failed); full != nil && err == nil {
			err = fmt.Errorf("store: %v: %w", p.op, full)
		}
	}()
	err = s.run(p, n, task, nil)
	if check.Cheap && err == nil {
		err = p.mayRecord(queues)
	}
	failed = err != nil
	return err
}

// begin starts a pass of n queues, unless the batch is at its limit.
func (s *Store) begin(ph *phase, n int) (p *batch.Pass, err error) {
	if err := s.admit(); err != nil {
		return nil, err
	}
	y := ph.systemOf()
	if y != nil {
		p = y.queues.Begin(n)
	} else {
		p = s.batch.Begin(n)
	}
	p.Context = ph
	if s.random != nil {
		s.random.pass(y, p)
	}
	return p, nil
}

func (s *Store) admit() error {
	if s.options.BatchLimit > 0 || s.options.BatchBytes > 0 {
		return s.batch.Admit()
	}
	return nil
}

// Queues begins a pass of n queues for goroutines of the caller. Each queue belongs to
// one goroutine at a time, until the next flush or Discard; recording must end before. A
// queue over its limit makes that flush return [ErrQueueFull] and apply nothing.
//
// Queues and Discard may be called between phases or inside a Read or Reduce, one after
// another: their order decides the order of commands. During any other phase they are
// [ErrPhase]. They do not wait for phases. A negative n panics.
func (s *Store) Queues(n int) ([]Queue, error) {
	if n < 0 {
		panic(fmt.Sprintf("store: Queues of %d; n must not be negative", n))
	}
	s.made("Queues")
	if !s.gate.tryPass() {
		return nil, fmt.Errorf("store: Queues: %w: another phase than Read or Reduce is open; call it between phases", ErrPhase)
	}
	defer s.gate.release(true)
	s.recording.Lock()
	defer s.recording.Unlock()
	if err := s.unclaimed(opQueues); err != nil {
		return nil, err
	}
	if err := s.admit(); err != nil {
		return nil, fmt.Errorf("store: Queues: %w", err)
	}
	pass := s.batch.Begin(n)
	if s.probe != nil {
		s.probe.begin(pass, opQueues, nil)
	}
	queues := make([]Queue, n)
	for i := range queues {
		queues[i] = Queue(pass.Queue(i))
	}
	return queues, nil
}

// Discard drops the pending batch: every command recorded since the last flush, and the
// calls of the inbox that have returned. Its queues then panic, and its provisional
// handles are stale. Callers and [ErrPhase] are as for [Store.Queues].
func (s *Store) Discard() error {
	s.made("Discard")
	if !s.gate.tryPass() {
		return fmt.Errorf("store: Discard: %w: another phase than Read or Reduce is open; call it between phases", ErrPhase)
	}
	defer s.gate.release(true)
	s.recording.Lock()
	defer s.recording.Unlock()
	if err := s.unclaimed(opDiscard); err != nil {
		return err
	}
	s.batch.Drop(ErrDiscarded)
	return nil
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
		return fmt.Sprintf("store: %s of chunk %d of table %q: kept past its pass; use the chunk of the current task", w.method, w.index, p.name())
	}
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

// A domain has the rows of a table, or of sparse data, that a pass or Reduce divides into chunks.
// Each and Do have tasks without rows, and so the zero domain.
type domain struct {
	table  *table
	sparse *sparseData // nil: the rows are items of the table
}

func (d domain) name() string {
	switch {
	case d.sparse != nil:
		return d.sparse.fullName
	case d.table != nil:
		return d.table.name
	}
	return ""
}

// String returns " of" and the kind and name, or "", for messages.
func (d domain) String() string {
	switch {
	case d.sparse != nil:
		return " of " + resource{component: &d.sparse.component}.String()
	case d.table != nil:
		return " of " + d.table.String()
	}
	return ""
}

// cut computes the chunks of the rows and returns their number.
func (d domain) cut(c *chunking) int {
	t := d.table
	if d.sparse != nil {
		return c.cut(d.sparse.chunk, len(t.order), func(shard int) int { return d.sparse.shard(shard).Rows() })
	}
	return c.cut(t.chunk, len(t.order), func(shard int) int { return t.order[shard].Map.Rows() })
}

// find returns the shard and rows of a chunk.
func (p *pass) find(chunk int) (shard, lo, hi int) {
	shard, lo, hi = p.chunks.find(chunk)
	return shard, lo, min(hi, p.table.order[shard].Map.Rows())
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

// A block is a run of rows for a task of a GroupBy or Fold, whose tasks need not be chunks.
type block struct{ shard, lo, hi, at int } // at: rows of earlier blocks

// blocks appends blocks of at most most rows to all, and returns the number of rows.
func (t *table) blocks(all []block, most int) ([]block, int) {
	n := 0
	for shard, sh := range t.order {
		rows := sh.Map.Rows()
		for lo := 0; lo < rows; lo += most {
			hi := min(lo+most, rows)
			all = append(all, block{shard, lo, hi, n})
			n += hi - lo
		}
	}
	return all, n
}

// toStarts replaces counts by the starts of a counting sort whose first place is at.
func toStarts[N int | uint32](counts []N, at N) {
	for i, n := range counts {
		counts[i] = at
		at += n
	}
}
