package batch_test

import (
	"slices"
	"sync"
	"testing"

	"handloom/batch"
	"handloom/handle"

	"pgregory.net/rapid"
)

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

func (b *bench) create(t rapid.TB, n int) error {
	t.Helper()
	q := b.enter(t)
	b.EmplaceItems(q, make([]value, n), nil)
	return b.AddCall(q, nil)
}

type history struct {
	*rapid.T
	*bench
	table  *batch.Commands
	given  map[handle.ID]*create // all ever
	open   []*entry
	next   []*create // creates of the batch, in order
	keyed  int       // number of next that passes recorded
	before []*create // creates of the last flushed batch
}

type create struct {
	name
	n uint64
}

type entry struct {
	batch.Queue
	creates []*create
}

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
		h.next, h.keyed = nil, 0
	}
}

func (h *history) pass() {
	p := h.Begin(2)
	for task := range 2 {
		h.next = slices.Insert(h.next, h.keyed, h.emplace(p.Queue(task)))
		h.keyed++
	}
	noError(h, p.End(false))
}

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
	if do == 17 { // the flush fails
		return
	}
	h.Finish()
	if len(want) > 0 {
		h.table, h.before = c, h.next
	}
	h.next, h.keyed = nil, 0
	h.checkNames(h.table, h.before)
}

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

// Handles are null until the batch is applied.
func realOrNull(c *batch.Commands, i int) name {
	if c.Created()[i].IsZero() {
		return name{}
	}
	return real(i)
}

func TestInbox_NamesBelongToOneBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{T: t, bench: newBench(1<<20, 1), given: map[handle.ID]*create{}}
		for _, do := range rapid.SliceOfN(rapid.IntRange(0, 18), 0, 200).Draw(t, "steps") {
			h.step(do)
		}
	})
}

func TestInbox_ConcurrentNamesAreUnique(t *testing.T) {
	b := newBench(1<<20, 1)
	var given sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				q, err := b.Enter()
				if err != nil {
					t.Error(err)
					return
				}
				for range i % 5 {
					p := b.Emplace(q, value{})
					if _, found := given.LoadOrStore(p.ID, true); found {
						t.Errorf("%v is given twice", p)
					}
				}
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

func TestLimits_FullBatchRefusesCalls(t *testing.T) {
	for _, limits := range []batch.Limits{{BatchCommands: 3}, {BatchBytes: 3 * 16}} {
		b := newLimited(limits, 1)
		for i := range 3 {
			if i == 1 {
				noError(t, b.create(t, 1))
				continue
			}
			p := b.Begin(1)
			b.Emplace(p.Queue(0), value{})
			b.enter(t)
			noError(t, p.End(false))
		}
		wantError(t, errorOf(b.Enter()), batch.ErrQueueFull)
		b.commands()
		b.Finish()
		b.enter(t)
	}
}
