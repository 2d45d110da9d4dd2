package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/paged"
	"handloom/store/internal/schedule"
	"handloom/tasks"
)

func (c *Schedule) eventTable(number schedule.Resource) *table {
	if r := c.resources[number]; r.component == nil && !r.isChanges && r.table != nil && r.table.events {
		return r.table
	}
	return nil
}

// planEnds makes c the schedule that ends the events of the tables that it reads or
// writes.
func (c *Schedule) planEnds() {
	for number := range c.resources {
		number := schedule.Resource(number)
		if t := c.eventTable(number); t != nil && c.plan.End(number) {
			t.reader.Store(c)
		}
	}
}

// endEvents makes the flush p of a Run end the events of tables. It skips tables whose
// events another schedule or the Frame around ends.
func (c *Schedule) endEvents(p *phase, tables []schedule.Resource) {
	for _, number := range tables {
		t := c.resources[number].table
		if reader := t.reader.Load(); reader == c || reader == nil && p.outer.outer == nil {
			c.store.flush.end(t)
		}
	}
}

// endUnread makes the flush end the events of tables that no schedule reads.
func (f *flush) endUnread() {
	for _, t := range f.store.events {
		if t.reader.Load() == nil {
			f.end(t)
		}
	}
}

// end makes the flush end the events of t. An empty t has no effect, because a flush
// without commands must stay one.
func (f *flush) end(t *table) {
	if t.len() > 0 {
		f.ended = append(f.ended, t.ordinal)
	}
}

// Fold calls f for each item of events whose key names an item of targets: damage for
// ships, messages for receivers. The calls for one target come from one goroutine, in the
// order of shards and rows of its events; calls for different targets may run at the same
// time. f may write the target, and read data that nobody writes meanwhile. Fold skips
// events whose key names no item.
//
//	err := store.Fold(ctx, hits, ships, func(h *Hit) store.Handle[Ship] { return h.Target },
//		func(s *Ship, h *Hit) { s.Hull -= h.Damage })
//
// It takes O(events.Len()) time. With one or two workers, or few events, it is a plain
// loop; more workers share the targets, with the same result. key may only look at the
// event, and may be called twice for it. Neither function may record; use
// [Groups.ForEach] for that.
//
// The targets passed to f count as written; see [Written]. For [TableOptions].FixedKeys,
// Fold is a ForEach over the targets.
//
// If key or f panics or calls runtime.Goexit, the other events continue and all writes
// stay. Fold then returns the error of the first such event, unless Goexit ends the caller;
// for a panic it is a [*PanicError] whose Task is the number of the event. Fold checks ctx
// once, before the first event.
//
// Fold holds the store alone, or joins the Frame or system of its context. The system
// names the events in Reads and the targets in Writes. Fold panics if the tables are the
// same or belong to different stores.
func Fold[E, T any](ctx context.Context, events *Table[E], targets TableOf[T], key func(e *E) Handle[T], f func(t *T, e *E)) error {
	check.Given(events != nil, "store: Fold", "table")
	onto := tableOf("Fold", targets)
	check.Given(key != nil, "store: Fold", "key function")
	check.Given(f != nil, "store: Fold", "function")
	p, err := onto.enterFold(ctx, &events.core)
	if err != nil {
		return err
	}
	defer p.leave()
	x := &folder[E, T]{events, &onto.lookups, key, f}
	return onto.fold(p, &events.core, foldSteps{x.route, x.apply})
}

type folder[E, T any] struct {
	events  *Table[E]
	targets *lookups
	key     func(*E) Handle[T]
	f       func(*T, *E)
}

// route finds the bucket of each event of a block.
func (x *folder[E, T]) route(g *folding, k *foldTask) {
	items := dense.Range[E](x.events.core.packed(k.shard), k.lo, k.hi)
	for ; k.done < len(items); k.done++ {
		k.buckets[k.done] = g.bucketOf(x.key(&items[k.done]).ID)
	}
}

// apply calls f for the events in rows, or for all events of the block.
func (x *folder[E, T]) apply(g *folding, k *foldTask) {
	items := dense.Range[E](x.events.core.packed(k.shard), k.lo, k.hi)
	for ; k.done < k.n; k.done++ {
		e := &items[k.row()]
		id := x.key(e).ID
		var t *T
		if x.targets.packed != nil {
			t, _ = dense.Find[T](x.targets.packed[id>>48&(MaxShards-1)], id)
		} else {
			t, _ = paged.Find[T](x.targets.stable[id>>48&(MaxShards-1)], id)
		}
		if t == nil {
			continue
		}
		if g.tracked {
			k.wrote = append(k.wrote, id)
		}
		x.f(t, e)
	}
}

type foldSteps struct{ route, apply func(g *folding, k *foldTask) }

// folding is the untyped part of a Fold. If workers share it, it has two parallel steps.
//
//	scatter   a block of events: sorts them by bucket of targets
//	gather    a bucket of targets: folds its events, block by block
//
// Both keep the order of rows, and a target is in one bucket, so the result equals one
// loop over all events.
type folding struct {
	foldSteps
	tracked  bool
	first    uint16
	shards   int
	perShard int // buckets per shard
	shift    int // a bucket has 1<<shift slots
	blocks   []block
	tasks    []foldTask // blocks, then buckets
	rows     []uint32   // by block and bucket: rows of events within the block
	buckets  []uint8    // by event
	ends     []uint32   // by block: end of each bucket in rows; events without a target are last

	all, onBlock, onBucket func(int) error // bound once
}

type foldTask struct {
	block
	rows    []uint32 // nil: all events of the block
	buckets []uint8
	n, done int

	failed int // number of the first failed event
	err    error
	wrote  []ID
	_      [64]byte // neighbours are written by different workers
}

const (
	foldBuckets = 64      // maximum, except with more shards
	foldAlone   = 1 << 13 // maximum of events for a plain loop
)

// enterFold begins the phase of a Fold with t as the target.
func (t *table) enterFold(ctx context.Context, events *table) (*phase, error) {
	switch {
	case t == events:
		panic(fmt.Sprintf("store: Fold of table %q onto itself; use two tables", t.name))
	case t.store != events.store:
		panic(fmt.Sprintf("store: Fold of table %q onto table %q of another store; use tables of one store", events.name, t.name))
	}
	p, err := t.store.enter(ctx, opFold)
	if err != nil {
		return nil, err
	}
	if check.Cheap {
		if err := errors.Join(p.mayRead(events), p.mayWrite("runs Fold onto", t)); err != nil {
			p.leave()
			return nil, err
		}
	}
	p.writes = t
	return p, nil
}

func (t *table) fold(p *phase, events *table, steps foldSteps) error {
	defer p.trace(t.name).end()
	if check.Full {
		defer t.store.watch(p)()
	}
	g, ok := t.folds.Get().(*folding)
	if !ok {
		g = new(folding)
		g.all, g.onBlock, g.onBucket = g.loop, g.scatter, g.gather
	}
	g.foldSteps, g.tracked = steps, t.tracked
	defer func() {
		t.noteFold(p, g)
		g.foldSteps = foldSteps{}
		t.folds.Put(g)
	}()
	g.blocks, _ = events.blocks(g.blocks[:0], blockRows)
	var err error
	workers := cmp.Or(t.store.options.Workers, runtime.GOMAXPROCS(0))
	if workers <= 2 || events.len() <= foldAlone {
		g.begin(len(g.blocks))
		err = t.store.run(p, 1, g.all, nil)
	} else {
		g.divide(t, events, workers)
		err = t.share(p, g)
	}
	if failed := g.failure(); failed != nil {
		err = failed
	}
	if err != nil {
		return fmt.Errorf("store: Fold of table %q onto table %q: %w", events.name, t.name, err)
	}
	return nil
}

// share runs the two steps. An event that fails in the first step does not keep the others
// from the second one, even if it ends this goroutine.
func (t *table) share(p *phase, g *folding) (err error) {
	gather := func() error {
		return t.store.run(&uncancelled{p}, len(g.tasks)-len(g.blocks), g.onBucket, nil)
	}
	ended := true
	defer func() {
		if ended {
			_ = gather()
		}
	}()
	err = t.store.run(p, len(g.blocks), g.onBlock, nil)
	ended = false
	if err == nil || g.failure() != nil {
		err = gather()
	}
	return err
}

// noteFold notes the written targets, also after a failure.
func (t *table) noteFold(p *phase, g *folding) {
	if t.lookups.packed != nil && len(g.blocks) > 0 {
		t.touch(0)
	}
	for i := range g.tasks {
		k := &g.tasks[i]
		if len(k.wrote) > 0 {
			t.written.begins(p.frameNumber())
		}
		for _, id := range k.wrote {
			t.written.add(int(id.TypeID()-t.first), id)
		}
		k.wrote = k.wrote[:0]
	}
}

func (g *folding) begin(n int) {
	g.tasks = append(g.tasks[:0], make([]foldTask, n)...)
}

// divide divides the targets into buckets and obtains the memory.
func (g *folding) divide(t, events *table, workers int) {
	slots := 0
	for _, sh := range t.order {
		slots = max(slots, sh.Map.Stats().Slots)
	}
	g.first, g.shards = t.first, len(t.order)
	g.perShard = max(1, min(foldBuckets, 4*workers)/g.shards)
	for g.shift = 0; slots>>g.shift >= g.perShard; {
		g.shift++
	}
	n, buckets := events.len(), g.shards*g.perShard
	g.begin(len(g.blocks) + buckets)
	g.rows, g.buckets = append(g.rows[:0], make([]uint32, n)...), append(g.buckets[:0], make([]uint8, n)...)
	g.ends = append(g.ends[:0], make([]uint32, len(g.blocks)*(buckets+1))...)
}

// bucketOf returns the bucket of a target; for no target, the number of buckets.
func (g *folding) bucketOf(id ID) uint8 {
	shard, at := int(id.TypeID())-int(g.first), int(id.Slot())>>g.shift
	if uint(shard) < uint(g.shards) && at < g.perShard {
		return uint8(shard*g.perShard + at)
	}
	return uint8(g.shards * g.perShard)
}

func (g *folding) loop(int) error {
	g.eachBlock(0, func(i int, b block) { g.each(&g.tasks[i], g.apply, b, nil, b.hi-b.lo) })
	return nil
}

// eachBlock calls do for the blocks from i on, also for the blocks after one that ends the
// goroutine.
func (g *folding) eachBlock(i int, do func(i int, b block)) {
	defer func() {
		if i < len(g.blocks) {
			g.eachBlock(i, do)
		}
	}()
	for i < len(g.blocks) {
		i++
		do(i-1, g.blocks[i-1])
	}
}

// scatter is the first step for one block.
func (g *folding) scatter(task int) error {
	b, k := g.blocks[task], &g.tasks[task]
	n, buckets := b.hi-b.lo, g.shards*g.perShard+1
	k.buckets = g.buckets[b.at:][:n]
	for i := range k.buckets {
		k.buckets[i] = uint8(buckets - 1) // for events whose key fails
	}
	defer k.sort(g.ends[task*buckets:][:buckets], g.rows[b.at:][:n]) // also after a Goexit of key
	g.each(k, g.route, b, nil, n)
	return nil
}

// sort writes the rows of a block in the order of their buckets, and the end of each bucket.
func (k *foldTask) sort(ends, rows []uint32) {
	for _, bucket := range k.buckets {
		ends[bucket]++
	}
	toStarts(ends, 0)
	for i, bucket := range k.buckets {
		rows[ends[bucket]] = uint32(i)
		ends[bucket]++
	}
}

// gather is the second step for one bucket.
func (g *folding) gather(bucket int) error {
	k, buckets := &g.tasks[len(g.blocks)+bucket], g.shards*g.perShard+1
	g.eachBlock(0, func(i int, b block) {
		ends := g.ends[i*buckets:][:buckets]
		lo := uint32(0)
		if bucket > 0 {
			lo = ends[bucket-1]
		}
		if rows := g.rows[b.at:][lo:ends[bucket]]; len(rows) > 0 {
			g.each(k, g.apply, b, rows, len(rows))
		}
	})
	return nil
}

// each runs a step for n events of a block, and skips events that fail.
func (g *folding) each(k *foldTask, do func(*folding, *foldTask), b block, rows []uint32, n int) {
	k.block, k.rows, k.n, k.done = b, rows, n, 0
	for k.done < n {
		g.some(k, do)
	}
}

// some runs a step up to the first event that fails.
func (g *folding) some(k *foldTask, do func(*folding, *foldTask)) {
	returned := false
	defer func() {
		if returned {
			return
		}
		v := recover()
		k.fail(v)
		for k.done++; v == nil && k.done < k.n; { // Goexit ends the goroutine
			g.some(k, do)
		}
	}()
	do(g, k)
	returned = true
}

func (k *foldTask) row() int {
	if k.rows == nil {
		return k.done
	}
	return int(k.rows[k.done])
}

// fail notes that the next event panicked with v or, if v is nil, called Goexit.
func (k *foldTask) fail(v any) {
	if k.err != nil {
		return
	}
	k.failed = k.at + k.row()
	if k.err = fmt.Errorf("event %d: %w", k.failed, tasks.ErrGoexit); v != nil {
		k.err = &PanicError{Task: k.failed, Value: v, Stack: debug.Stack()}
	}
}

// failure returns the error of the first event that failed, or nil.
func (g *folding) failure() error {
	var first *foldTask
	for i := range g.tasks {
		if k := &g.tasks[i]; k.err != nil && (first == nil || k.failed < first.failed) {
			first = k
		}
	}
	if first == nil {
		return nil
	}
	return first.err
}
