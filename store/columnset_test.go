package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// setPlay records random commands into several queues, and does with plain maps what a
// flush is to do with them.
type setPlay struct {
	*fleet
	r     *rand.Rand
	names []setName

	sets [][]setCommand // by queue
	gone map[store.ID]bool
}

// setName is a create and the queue that recorded it.
type setName struct {
	h     store.Handle[item]
	queue int
}

type setCommand struct {
	h     store.Handle[item]
	n     uint32
	mate  store.Handle[item]
	queue int // whose create it is, or -1
}

func (p *setPlay) anyone() store.Handle[item] {
	living := p.living()
	switch {
	case p.r.IntN(3) > 0 && len(p.names) > 0:
		return p.names[p.r.IntN(len(p.names))].h
	case len(living) > 0 && p.r.IntN(30) > 0:
		return living[p.r.IntN(len(living))]
	}
	return store.Handle[item]{ID: store.ID(p.r.Uint64())}
}

func (p *setPlay) creator(h store.Handle[item]) int {
	for _, name := range p.names {
		if name.h == h {
			return name.queue
		}
	}
	return -1
}

// set records a Set of all columns, of elements that a number makes.
func (p *setPlay) record(q store.Queue, queue int, h store.Handle[item]) {
	c := setCommand{h, p.r.Uint32N(1000), p.anyone(), p.creator(h)}
	p.small.Set(q, h, c.n)
	p.name.Set(q, h, nameOf(c.n))
	p.large.Set(q, h, largeOf(c.n))
	p.crew.Set(q, h, crew{Mate: c.mate, Cabin: int(c.n)})
	tr := traceOf(c.n)
	tr.Near = []store.Handle[item]{c.mate}
	p.traces.Set(q, h, tr)
	p.sets[queue] = append(p.sets[queue], c)
}

func (p *setPlay) batch(queues []store.Queue) {
	p.names, p.sets, p.gone = nil, make([][]setCommand, len(queues)), make(map[store.ID]bool)
	for range p.r.IntN(150) {
		at := p.r.IntN(len(queues))
		q := queues[at]
		switch p.r.IntN(8) {
		case 0, 1:
			for range p.r.IntN(6) {
				h := p.items.Emplace(q, item{Value: p.r.Uint64N(100)})
				p.names = append(p.names, setName{h, at})
				if p.r.IntN(3) > 0 {
					p.record(q, at, h)
				}
			}
		case 2:
			h := p.anyone()
			p.items.Erase(q, h)
			p.gone[h.ID] = true
		case 3:
			p.items.Put(q, p.anyone(), item{Value: 1})
		default:
			p.record(q, at, p.anyone())
		}
	}
}

// want returns what the flush is to count for each column, and the element of each item
// that was set, by the name it was set by.
func (p *setPlay) expect() (counts batch.Counts, last map[store.Handle[item]]setCommand) {
	last = make(map[store.Handle[item]]setCommand)
	of := make(map[store.Handle[item]]int) // the highest queue that set an item so far
	for queue, sets := range p.sets {
		again := make(map[store.Handle[item]]bool)
		for _, c := range sets {
			known := p.items.Has(c.h) || c.queue >= 0
			_, set := last[c.h]
			switch {
			case !known:
				counts.Stale++
			case p.gone[c.h.ID]:
				counts.Dropped++
			case c.queue == queue && again[c.h]:
				counts.Superseded++ // the queue knows the place
				last[c.h] = c
			case set:
				counts.Superseded++
				last[c.h], of[c.h] = c, queue
			default:
				counts.Put++
				last[c.h], of[c.h] = c, queue
			}
			again[c.h] = true
		}
	}
	return counts, last
}

func playSets(t *testing.T, seed uint64, workers int) (digests []uint64) {
	f := newFleet(t, store.Options{Workers: workers})
	p := &setPlay{fleet: f, r: rand.New(rand.NewPCG(seed, 5))}
	for round := range 12 {
		queues, err := f.Queues(1 + p.r.IntN(4))
		if err != nil {
			t.Fatal(err)
		}
		p.batch(queues)
		counts, last := p.expect()
		living := f.living()
		if f.Pending().Commands == 0 {
			continue
		}
		report := flush(t, f.Store)
		for _, c := range report.Columns {
			c.Dangling = 0
			if c.Counts != counts {
				t.Fatalf("seed %d, round %d: %v, want %v", seed, round, c, counts)
			}
		}
		if sets := slices.ContainsFunc(p.sets, func(s []setCommand) bool { return len(s) > 0 }); sets != (len(report.Columns) == 5) {
			t.Fatalf("seed %d, round %d: %d columns have lines", seed, round, len(report.Columns))
		}
		real := func(h store.Handle[item]) store.Handle[item] {
			if slices.Contains(living, h) || !h.ID.IsProvisional() {
				return h
			}
			h, _ = f.items.Resolve(h)
			return h
		}
		written := make(map[store.Handle[item]]bool)
		for h, c := range last {
			h := real(h)
			if !f.items.Has(h) {
				continue
			}
			f.want[h] = c.n
			written[h] = slices.Contains(living, h)
			if got := f.crew.At(h).Mate; got != real(c.mate) {
				t.Fatalf("seed %d, round %d: the mate of %v is %v, want %v", seed, round, h, got, real(c.mate))
			}
			if got := f.traces.At(h).Near[0]; got != real(c.mate) {
				t.Fatalf("seed %d, round %d: near %v is %v, want %v", seed, round, h, got, real(c.mate))
			}
		}
		for h := range f.small.Written() {
			if !written[h] {
				t.Fatalf("seed %d, round %d: %v is listed as written", seed, round, h)
			}
			delete(written, h)
		}
		for h, missing := range written {
			if missing {
				t.Fatalf("seed %d, round %d: %v is not listed as written", seed, round, h)
			}
		}
		f.compare(t.Context(), fmt.Sprintf("seed %d, round %d", seed, round))
		digests = append(digests, digest(t, f.Store))
	}
	return digests
}

// Whoever sets what, by whatever name: the last by key and sequence wins, what is erased
// is dropped, every command is counted once, and the state is that of one worker.
func TestSetsDoWhatTheySay(t *testing.T) {
	for seed := range uint64(40) {
		want := playSets(t, seed, 1)
		if got := playSets(t, seed, 3); !slices.Equal(got, want) {
			t.Fatalf("seed %d: with 3 workers %x, want %x", seed, got, want)
		}
	}
}

// One late Set takes the memory of all creates before it, which the limit of bytes counts.
func TestAQueueCountsThePaddingOfALateSet(t *testing.T) {
	const n = 1000
	run := func(limit int64, early bool) error {
		s, table := newTable(t, store.Options{QueueBytes: limit}, store.TableOptions[item]{})
		c := addColumn(t, table, store.ColumnOptions[[32]byte]{Name: "a"})
		return s.Each(t.Context(), 1, func(_ context.Context, _ int, q store.Queue) error {
			var names []store.Handle[item]
			for range n {
				names = append(names, table.Emplace(q, item{}))
			}
			at := n - 1
			if early {
				at = 0
			}
			c.Set(q, names[at], [32]byte{1})
			return nil
		})
	}
	const creates = n * int64(unsafe.Sizeof(item{}))
	if err := run(creates+32, true); err != nil {
		t.Errorf("an early Set does not fit: %v", err)
	}
	if err := run(creates+32*n, false); err != nil {
		t.Errorf("a late Set does not fit: %v", err)
	}
	if err := run(creates+32*n-1, false); !errors.Is(err, store.ErrQueueFull) {
		t.Errorf("the padding is not counted: %v", err)
	}
}

// What a pass that fails set is gone, and so is what Discard drops; what a flush that
// fails would set is kept.
func TestSetsLiveAndDieWithTheirQueue(t *testing.T) {
	ctx := t.Context()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{MaxItems: 2})
	c := addColumn(t, table, store.ColumnOptions[int]{Name: "a"})
	h := fill(t, s, table, 1)[0]
	err := s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		c.Set(q, h, 1)
		return errTask
	})
	if !errors.Is(err, errTask) || s.Pending().Commands != 0 {
		t.Errorf("%v; %d commands are pending", err, s.Pending().Commands)
	}
	c.Set(queues(t, s, 1)[0], h, 2)
	if err := s.Discard(); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	if got := *c.At(h); got != 0 {
		t.Errorf("the element is %d", got)
	}
	q := queues(t, s, 1)[0]
	c.Set(q, h, 3)
	p := table.Emplace(q, item{})
	c.Set(q, p, 4)
	extra := table.Emplace(q, item{})
	if _, err := s.Flush(ctx); !errors.Is(err, store.ErrFull) || *c.At(h) != 0 {
		t.Fatalf("%v; the element is %d", err, *c.At(h))
	}
	c.Set(q, p, 5)
	table.Erase(q, extra)
	flush(t, s)
	if *c.At(h) != 3 || *c.At(resolve(t, table, p)) != 5 {
		t.Errorf("the elements are %d and %d", *c.At(h), *c.At(resolve(t, table, p)))
	}
	if said := panicOf(func() { c.Set(q, h, 6) }); !strings.Contains(said, "kept past its flush") {
		t.Errorf("a queue of before: %q", said)
	}
	other, _ := newTable(t, store.Options{}, store.TableOptions[item]{})
	if said := panicOf(func() { c.Set(queues(t, other, 1)[0], h, 6) }); !strings.Contains(said, "another store") {
		t.Errorf("a queue of another store: %q", said)
	}
}

// Stale Sets are told by the names of columns first, whichever was added before.
func TestTheFirstStaleSetsAreTold(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	late, early := addColumn(t, table, store.ColumnOptions[int]{Name: "z"}), addColumn(t, table, store.ColumnOptions[int]{Name: "a"})
	q := queues(t, s, 1)[0]
	for range 10 {
		late.Set(q, store.Handle[item]{}, 1)
	}
	early.Set(q, store.Handle[item]{}, 1)
	early.Set(q, store.Handle[item]{}, 2)
	var names []string
	for _, sample := range flush(t, s).Stale {
		names = append(names, fmt.Sprint(sample.Column, sample.Sequence))
	}
	if got, want := strings.Join(names, " "), "a0 a1 z0 z1 z2 z3 z4 z5"; got != want {
		t.Errorf("told are %s, want %s", got, want)
	}
}

// Recording and flushing Sets allocates nothing once arrays have grown.
func TestSetsAllocateNothingInTheSteadyState(t *testing.T) {
	if check.Cheap {
		t.Skip("checks allocate")
	}
	ctx := t.Context()
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	a, b := addColumn(t, table, store.ColumnOptions[uint64]{Name: "a"}), addColumn(t, table, store.ColumnOptions[string]{Name: "b"})
	living := fill(t, s, table, 500)
	var err error
	frame := func() {
		err = s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			for _, h := range living {
				a.Set(q, h, 7)
				p := table.Emplace(q, item{})
				a.Set(q, p, 1)
				b.Set(q, p, "b")
				table.Erase(q, h)
			}
			return nil
		})
		if err == nil {
			_, err = s.Flush(ctx)
		}
		living = living[:0]
		for h := range table.All() {
			living = append(living, h)
		}
	}
	for range 20 {
		frame()
	}
	if n := testing.AllocsPerRun(20, frame); n > 8 || err != nil {
		t.Errorf("%v allocations in a frame, %v", n, err)
	}
}

// The counters of a Set or Unset do not depend on the queue that records it: all of a
// create that the batch erases are dropped, as all Puts of it are.
func TestCounts_SetsOfCancelledCreate(t *testing.T) {
	for name, queue := range map[string]func(i int) int{
		"own queue":     func(int) int { return 1 },
		"earlier queue": func(int) int { return 0 },
		"later queue":   func(int) int { return 2 },
		"two queues":    func(i int) int { return i % 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Name: "ship"})
			engine := addColumn(t, table, store.ColumnOptions[int]{Name: "engine"})
			shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
			q := queues(t, s, 3)
			const creates, each = 200, 4
			for n := range creates {
				h := table.Emplace(q[1], item{})
				for i := range each {
					by := q[queue(i)]
					table.Put(by, h, item{Value: 1})
					engine.Set(by, h, i)
					if i%2 == 0 {
						shield.Set(by, h, i)
					} else {
						shield.Unset(by, h)
					}
				}
				if n%2 == 0 {
					table.Erase(q[n%3], h)
				}
			}
			report := flush(t, s)
			want := batch.Counts{Put: creates / 2, Superseded: creates / 2 * (each - 1), Dropped: creates / 2 * each}
			if got := report.Columns[0].Counts; got != want {
				t.Errorf("column: %v, want %v", got, want)
			}
			got := report.Columns[1].Counts
			got.Put, got.Redundant = got.Put+got.Redundant, 0 // an Unset that is last is redundant
			if got != want {
				t.Errorf("optional data: %v, want %v", got, want)
			}
			if got := report.Tables[0].Dropped; got != want.Dropped {
				t.Errorf("puts: %d dropped, want %d", got, want.Dropped)
			}
		})
	}
}
