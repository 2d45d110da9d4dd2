package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"sync"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/internal/seam"
	"handloom/tasks"
)

// The functions below run only with the build tag handloom_check. lookup also runs with
// the race detector.

// lookup panics while a flush applies, because items move, and in a system that does not
// declare the table.
func (t *table) lookup(method string) {
	s := t.store
	if s == nil {
		return
	}
	if s.applying.Load() {
		panic(fmt.Sprintf("store: %s of %v while a flush applies; look things up in a phase (Read, a pass, Frame)", method, t))
	}
	if y := s.currentSystem(); y != nil && !y.reads(t) {
		panic(y.undeclared("calls "+method+" of", t, "Reads"))
	}
}

// leaks returns [ErrPhase] for the first live item, by table and row, that holds a
// provisional handle, which was written in place, where no flush makes it real.
func (s *Store) leaks() error {
	for _, t := range s.tables {
		if err := t.leak(); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) leak() error {
	for _, sh := range t.order {
		attachment, err := sh.Leak()
		switch {
		case err == nil:
		case attachment == batch.ToTable:
			return fmt.Errorf("table %q: %w: %w; store it in values given to Emplace and Put", t.name, ErrPhase, err)
		default:
			p := t.components[attachment]
			return fmt.Errorf("%s %q: %w: %w; store it in values given to Set", p.what, p.fullName, ErrPhase, err)
		}
	}
	return nil
}

// byAll returns the extra commands that each erase of all items counts for.
func (f *flush) byAll() (more int) {
	for _, t := range f.tables {
		if t.recorder.Pending.All() > 0 {
			more += t.len() - 1
		}
	}
	return more + len(f.ended)
}

// verifyCounts panics if a flush broke an invariant or lost a command (B1).
func (f *flush) verifyCounts(recorded int) {
	s := f.store
	for _, t := range s.tables {
		shards := len(t.order)
		for i := range shards {
			if err := t.verify(i); err != nil {
				panic(fmt.Sprintf("checked build: %v; after the flush to epoch %d", err, f.report.Epoch))
			}
		}
	}
	if counted := batch.Commanded(f.report.Total); counted != recorded {
		panic(fmt.Sprintf("checked build: B1: the flush to epoch %d counted %d commands of %d", f.report.Epoch, counted, recorded))
	}
}

// watch returns a function that panics if a table changed that the phase must not write
// (P1). It skips the table of a ForEach, the columns of a ForEachRows and the sparse data
// of a pass over it. It skips Do, which may write all, and systems, which write at the same
// time as others of their wave.
func (s *Store) watch(p *phase) func() {
	if !check.Full || p.op == opDo || p.outer != nil && p.outer.op != opFrame {
		return func() {}
	}
	before := s.digests(p)
	return func() {
		for i, after := range s.digests(p) {
			if before[i] != after {
				panic(fmt.Sprintf("checked build: P1: table %q changed during %v, which must not write it; record a Put, or write it in a ForEach of its own",
					s.tables[i].name, p.op))
			}
		}
	}
}

// digests returns a digest of each table, without the parts that the phase may write.
func (s *Store) digests(p *phase) []uint64 {
	sums := make([]uint64, len(s.tables))
	for i, t := range s.tables {
		if t == p.writes {
			continue
		}
		shards := len(t.order)
		for shard := range shards {
			sums[i] = sums[i]*31 + t.mapDigest(shard, t == p.writesColumns)
			for _, c := range t.sparse {
				if c != p.writesSparse {
					var h digest.Hash
					c.shard(shard).DigestTo(&h)
					sums[i] = sums[i]*31 + h.Sum()
				}
			}
		}
	}
	return sums
}

// mapDigest returns the digest of the items of a shard, with or without columns.
func (t *table) mapDigest(shard int, itemsAlone bool) uint64 {
	if itemsAlone {
		return t.packed(shard).ItemsDigest()
	}
	return t.order[shard].Map.Digest()
}

// Shuffle makes the tasks of every pass and flush begin in a random order from seed, and
// makes workers yield between tasks. It is for tests: it detects tasks that depend on one
// another even with one worker, and does not change the results of correct programs. It
// costs memory and time per task.
//
// The goroutine that flushes calls it between phases; while a phase is open it is
// [ErrPhase]. It stays on.
func (s *Store) Shuffle(seed uint64) error {
	s.made("Shuffle")
	if !s.gate.tryAcquire(false) {
		return fmt.Errorf("store: Shuffle: %w: a phase is open; call it outside phases", ErrPhase)
	}
	defer s.gate.release(false)
	var lock sync.Mutex // passes of systems run at the same time
	random := rand.New(rand.NewPCG(seed, 0))
	s.shuffle = func(n int) func(task int) int {
		lock.Lock()
		order := random.Perm(n)
		lock.Unlock()
		return func(i int) int {
			runtime.Gosched()
			return order[i]
		}
	}
	return nil
}

// order returns the function that maps the n tasks of a step to their order, or nil for
// the natural order.
func (s *Store) order(n int) func(task int) int {
	switch {
	case s.shuffle != nil:
		return s.shuffle(n)
	case seam.Step != nil:
		return seam.Step(n)
	}
	return nil
}

// runInOrder runs the n tasks of a step in the given order. It returns the error of the
// lowest task, as in any order.
func (s *Store) runInOrder(ctx context.Context, n int, task func(int) error, instead func(task int) int) error {
	errs := make([]error, n)
	err := tasks.Run(ctx, n, func(i int) error {
		i, returned := instead(i), false
		defer func() {
			if value := recover(); value != nil {
				errs[i] = &PanicError{Task: i, Value: value, Stack: debug.Stack()}
			} else if !returned {
				errs[i] = fmt.Errorf("store: task %d: %w", i, ErrGoexit)
			}
		}()
		errs[i] = task(i)
		returned = true
		return nil
	}, tasks.Options{Workers: s.options.Workers, Whole: true})
	for _, failed := range errs {
		if failed != nil {
			return failed
		}
	}
	return err
}
