package batch_test

import (
	"sync"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
)

func (b *bench) values() []uint64 {
	c := b.commands()
	b.plan(c)
	return survivors(c, 0, c.Survivors())
}

func (b *bench) recordPasses(t *testing.T, s *batch.Sequence, passes, tasks int, first uint64) {
	t.Helper()
	for range passes {
		p := s.Begin(tasks)
		for task := range tasks {
			b.Emplace(p.Queue(task), value{N: first})
			first++
		}
		noError(t, p.End(false))
	}
}

func TestJoin_AssignsKeysInOrder(t *testing.T) {
	const systems, passes, tasks = 6, 3, 4
	b := newBench(1<<20, 1)
	var all []*batch.Sequence
	for range systems {
		all = append(all, b.NewSequence())
	}
	for round := range 20 {
		b.Emplace(b.Begin(1).Queue(0), value{})
		var wg sync.WaitGroup
		for i, s := range all {
			wg.Go(func() { b.recordPasses(t, s, passes, tasks, uint64(1+i*passes*tasks)) })
		}
		wg.Wait()
		for _, s := range all {
			b.Join(s)
		}
		b.Emplace(b.Begin(1).Queue(0), value{N: 1 + systems*passes*tasks})

		keys := b.commands().Keys()
		for i, k := range keys {
			want := batch.Key{} // first pass
			switch n := i - 1; {
			case n == systems*passes*tasks:
				want.Pass = 1 + systems*passes
			case i > 0:
				want = batch.Key{Pass: 1 + n/tasks, Task: n % tasks}
			}
			if k != want {
				t.Fatalf("round %d: queue %d has the key %v, want %v", round, i, k, want)
			}
		}
		values := b.values()
		expectRange(t, values, 0, len(values))
		if pending := b.Pending().Commands; pending != len(values) || pending != 2+systems*passes*tasks {
			t.Errorf("%d commands are pending", pending)
		}
		b.Finish()
	}
}

func TestSequence_DropClosesItsQueues(t *testing.T) {
	b := newBench(1<<20, 1)
	s := b.NewSequence()
	b.recordPasses(t, s, 1, 2, 0)
	b.Join(s)
	p := s.Begin(2)
	dropped := b.Emplace(p.Queue(0), value{N: 99})
	kept := p.Queue(0)
	noError(t, p.End(false))
	s.Drop()
	if panicOf(func() { b.Emplace(kept, value{}) }) == nil {
		t.Error("a queue of a pass that was dropped records")
	}
	b.recordPasses(t, s, 1, 1, 2)
	b.Join(s)
	c := b.commands()
	b.plan(c)
	expectRange(t, survivors(c, 0, c.Survivors()), 0, 3)
	if h, ok := c.Resolve(dropped.ID); ok {
		t.Errorf("a name that was dropped resolves to %v", h)
	}
	if n := b.Pending().Commands; n != 3 {
		t.Errorf("%d commands are pending", n)
	}
}

func TestSequence_SteadyStateAllocatesNothing(t *testing.T) {
	b := newBench(1<<20, 1)
	s := b.NewSequence()
	items := make([]value, 3*segmentItems)
	names := make([]name, 0, len(items))
	round := func() {
		for range 2 {
			p := s.Begin(2)
			for task := range 2 {
				names = b.EmplaceItems(p.Queue(task), items, names[:0])
				b.EraseItems(p.Queue(task), names[:100])
			}
			noError(t, p.End(false))
			b.Join(s)
		}
		p := s.Begin(1)
		b.Emplace(p.Queue(0), value{})
		_ = p.End(false)
		s.Drop()
		b.Gather()
		b.Publish(true)
		b.Finish()
	}
	for range 5 {
		round()
	}
	if n := testing.AllocsPerRun(200, round); n > 0 && !check.Cheap && testing.CoverMode() == "" {
		t.Errorf("a batch like the one before allocates %v objects", n)
	}
}
