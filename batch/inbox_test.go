package batch_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"handloom/batch"
	"handloom/shard/handle"

	"pgregory.net/rapid"
)

// enter begins a call of the inbox, which must be allowed.
func (b *bench) enter(t rapid.TB) batch.Queue {
	t.Helper()
	q, err := b.Enter()
	noError(t, err)
	return q
}

func (b *bench) arrive(t rapid.TB, q batch.Queue) {
	t.Helper()
	noError(t, b.AddCall(q, nil))
}

// history is a random sequence of calls of the inbox, passes and flushes, with a
// model of what each name stands for.
type history struct {
	*rapid.T
	*bench
	table  *batch.Commands
	given  map[handle.ID]*create // ever
	open   []*entry
	next   []*create // of the batch that a flush would seal now, in order
	before []*create // of the batch applied last
	sealed int       // how many of next a flush has sealed already
}

type create struct {
	name
	n     uint64
	keyed bool // of a pass
}

// entry is a call of the inbox that records.
type entry struct {
	batch.Queue
	creates []*create
}

// emplace records a create under a name that was never given before.
func (h *history) emplace(q batch.Queue) *create {
	c := &create{n: uint64(len(h.given))}
	c.name = h.Emplace(q, value{N: c.n})
	if h.given[c.ID] != nil || !c.ID.IsProvisional() {
		h.Fatalf("create %d is named %v, as create %v was", c.n, c.name, h.given[c.ID])
	}
	h.given[c.ID] = c
	return c
}

func (h *history) step(do int) {
	switch {
	case do < 4:
		h.open = append(h.open, &entry{Queue: h.enter(h)})
	case do < 9 && len(h.open) > 0:
		e := h.open[do%len(h.open)]
		e.creates = append(e.creates, h.emplace(e.Queue))
		if v, ok := h.Staged(e.Queue, e.creates[0].name); !ok || v.N != e.creates[0].n {
			h.Fatalf("create %d is staged as %v, %t", e.creates[0].n, v, ok)
		}
	case do < 13 && len(h.open) > 0:
		at := do % len(h.open)
		e := h.open[at]
		h.open = slices.Delete(h.open, at, at+1)
		if do == 12 {
			h.Leave(e.Queue)
			return
		}
		h.arrive(h, e.Queue)
		h.next = append(h.next, e.creates...)
	case do == 13:
		h.pass()
	case do < 18:
		h.flush(do)
	default:
		h.Drop(nil)
		h.next, h.sealed = nil, 0
	}
}

// pass records a pass, whose creates come before all calls.
func (h *history) pass() {
	p := h.Begin(2)
	for task := range 2 {
		c := h.emplace(p.Queue(task))
		c.keyed = true
		h.next = slices.Insert(h.next, h.keyed(), c)
	}
	noError(h, p.End(false))
}

// keyed returns how many of the creates that wait are not of the inbox.
func (h *history) keyed() int {
	n := slices.IndexFunc(h.next, func(c *create) bool { return !c.keyed })
	if n < 0 {
		return len(h.next)
	}
	return n
}

// flush gathers the batch and applies it, unless it fails.
func (h *history) flush(do int) {
	c := h.commands()
	h.plan(c)
	h.checkNames(c, h.next)
	var want []uint64
	for _, made := range h.next {
		want = append(want, made.n)
	}
	if got := survivors(c, 0, c.Survivors()); !slices.Equal(got, want) {
		h.Fatalf("the flush creates %v, want %v", got, want)
	}
	if do == 17 { // it fails: the batch is kept
		return
	}
	h.Finish()
	if len(want) > 0 {
		h.table, h.before = c, h.next
	}
	h.next = nil
	h.checkNames(h.table, h.before)
}

// checkNames sees that names of these creates are known, and no other ever given.
func (h *history) checkNames(c *batch.Commands, known []*create) {
	if c == nil {
		return
	}
	at := map[handle.ID]int{}
	for i, made := range known {
		at[made.ID] = i
	}
	for id := range h.given {
		i, ours := at[id]
		real, ok := c.Resolve(id)
		if ok != ours || ok && real != realOrNull(c, i).ID {
			h.Fatalf("name %v resolves: %t, to %v; is of the batch: %t, number %d", id, ok, real, ours, i)
		}
	}
}

// realOrNull is what the name of the i-th create resolves to: nothing yet, while
// the batch is not applied.
func realOrNull(c *batch.Commands, i int) name {
	if names := c.Created(); !names[i].IsZero() {
		return real(i)
	}
	return name{}
}

func TestNamesOfTheInboxAreUniqueAndKnownToTheirBatchAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{T: t, bench: newBench(1<<20, 1), given: map[handle.ID]*create{}}
		for _, do := range rapid.SliceOfN(rapid.IntRange(0, 18), 0, 200).Draw(t, "steps") {
			h.step(do)
		}
	})
}

func TestManyGoroutinesNameWithoutClash(t *testing.T) {
	b := newBench(1<<20, 1)
	var mu sync.Mutex
	given := map[handle.ID]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				q, err := b.Enter()
				if err != nil {
					t.Error(err)
					return
				}
				var names []name
				for range i % 5 {
					names = append(names, b.Emplace(q, value{}))
				}
				mu.Lock()
				for _, p := range names {
					if given[p.ID] {
						t.Errorf("%v is given twice", p)
					}
					given[p.ID] = true
				}
				mu.Unlock()
				if i%7 == 0 {
					b.Leave(q)
				} else if err := b.AddCall(q, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		b.Seal()
		b.Gather()
		b.Publish(true)
		b.Finish()
	}
	wg.Wait()
}

// The limit of the inbox counts the commands of all calls that wait; those of a
// batch that a flush has sealed wait until it succeeds.
func TestTheLimitOfTheInboxIsExact(t *testing.T) {
	for _, more := range []int{0, 1} {
		b := newLimited(batch.Limits{InboxCommands: 10}, 1)
		for i := range 4 {
			q := b.enter(t)
			b.EmplaceItems(q, make([]value, 2), nil)
			b.arrive(t, q)
			if i == 1 {
				b.commands() // seals; the flush fails
			}
		}
		q, open := b.enter(t), b.enter(t)
		b.EmplaceItems(q, make([]value, 2+more), nil)
		if err := b.AddCall(q, nil); errors.Is(err, batch.ErrQueueFull) != (more > 0) {
			t.Errorf("%d more: %v", more, err)
		}
		if got := b.Pending().Commands; got != 10-2*more {
			t.Errorf("%d commands wait", got)
		}
		if more > 0 {
			continue
		}
		wantError(t, errorOf(b.Enter()), batch.ErrQueueFull)
		q = open
		b.arrive(t, q) // of a call that records nothing
		b.commands()
		b.Finish()
		q = b.enter(t)
		b.EmplaceItems(q, make([]value, 10), nil)
		b.arrive(t, q)
	}
}

// A call is allowed while the batch has room, as a pass is.
func TestACallIsRefusedWhenTheBatchIsFull(t *testing.T) {
	for _, limits := range []batch.Limits{{BatchCommands: 3}, {BatchBytes: 3 * 16}} {
		b := newLimited(limits, 1)
		for i := range 3 {
			if i == 1 {
				q := b.enter(t)
				b.Emplace(q, value{})
				b.arrive(t, q)
				continue
			}
			p := b.Begin(1)
			b.Emplace(p.Queue(0), value{})
			b.enter(t)
			noError(t, p.End(false))
		}
		if _, err := b.Enter(); !errors.Is(err, batch.ErrQueueFull) {
			t.Errorf("%+v: a call of a full batch: %v", limits, err)
		}
		b.commands()
		b.Finish()
		b.enter(t)
	}
}
