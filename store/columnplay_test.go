package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// flock is a table whose columns have values of their own each, what a program expects of
// them, and the batch that it records.
type flock struct {
	*store.Store
	t      tb
	r      *rand.Rand
	items  *store.Table[item]
	a, b   *store.Column[item, pal]
	label  *store.Column[item, label]
	large  *store.Column[item, [9]uint64]
	marked *store.Column[item, struct{}]

	want    map[store.Handle[item]]beside
	now     flockBatch
	created map[store.Handle[item]]bool // by flushes of the frame
	written map[store.Handle[item]]bool // elements of a, in the frame
}

type pal struct {
	N    uint64
	Mate store.Handle[item]
}

type label struct {
	Text string
	N    uint64
}

// beside are the elements of an item.
type beside struct {
	a, b  pal
	label label
	large uint64
}

// flockBatch is what was recorded, in the order of queues.
type flockBatch struct {
	call    *flockBatch // of the inbox, or nil
	queues  int
	creates []store.Handle[item]
	erased  map[store.Handle[item]]bool
	all     bool
	sets    []flockSet
}

// flockSet changes elements of what it is given; the last by queue, and then by turn, wins.
type flockSet struct {
	queue  int
	h      store.Handle[item]
	column int
	set    func(e *beside, real func(store.Handle[item]) store.Handle[item])
}

func newFlock(t tb, r *rand.Rand, o store.Options, shards, maxItems int) *flock {
	s, table := newTable(t, o, store.TableOptions[item]{Shards: shards, MaxItems: maxItems, ChunkItems: 16, Changes: true, MinFree: 2})
	f := &flock{
		Store: s, t: t, r: r, items: table, want: make(map[store.Handle[item]]beside),
		a:      addColumn(t, table, store.ColumnOptions[pal]{Name: "a", Changes: true}),
		b:      addColumn(t, table, store.ColumnOptions[pal]{Name: "b"}),
		label:  addColumn(t, table, store.ColumnOptions[label]{}),
		large:  addColumn(t, table, store.ColumnOptions[[9]uint64]{Name: "large"}),
		marked: addColumn(t, table, store.ColumnOptions[struct{}]{Name: "marked"}),
	}
	f.beginFrame()
	f.now = flockBatch{erased: make(map[store.Handle[item]]bool)}
	return f
}

func (f *flock) beginFrame() {
	f.created, f.written = make(map[store.Handle[item]]bool), make(map[store.Handle[item]]bool)
}

func (f *flock) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// living returns the handles of all items, in the order of rows.
func (f *flock) living() (all []store.Handle[item]) {
	for h := range f.items.All() {
		all = append(all, h)
	}
	return all
}

func labelOf(n uint64) label { return label{fmt.Sprint("item ", n), n} }

// set records a Set of one column.
func (f *flock) set(q store.Queue, queue int, h, mate store.Handle[item]) {
	n, column := f.r.Uint64(), f.r.IntN(5)
	c := flockSet{queue, h, column, func(*beside, func(store.Handle[item]) store.Handle[item]) {}}
	switch column {
	case 0:
		f.a.Set(q, h, pal{n, mate})
		c.set = func(e *beside, real func(store.Handle[item]) store.Handle[item]) { e.a = pal{n, real(mate)} }
	case 1:
		f.b.Set(q, h, pal{n, mate})
		c.set = func(e *beside, real func(store.Handle[item]) store.Handle[item]) { e.b = pal{n, real(mate)} }
	case 2:
		f.label.Set(q, h, labelOf(n))
		c.set = func(e *beside, _ func(store.Handle[item]) store.Handle[item]) { e.label = labelOf(n) }
	case 3:
		f.large.Set(q, h, [9]uint64{0: n, 8: ^n})
		c.set = func(e *beside, _ func(store.Handle[item]) store.Handle[item]) { e.large = n }
	default:
		f.marked.Set(q, h, struct{}{})
	}
	f.now.sets = append(f.now.sets, c)
}

// record records n commands into queues, which are those from first on.
func (f *flock) record(queues []store.Queue, first, n int) {
	living := f.living()
	anyone := func() store.Handle[item] {
		switch known := f.now.creates; {
		case len(known) > 0 && f.r.IntN(2) == 0:
			return known[f.r.IntN(len(known))]
		case len(living) > 0:
			return living[f.r.IntN(len(living))]
		}
		return store.Handle[item]{}
	}
	f.now.queues = max(f.now.queues, first+len(queues))
	for range n {
		at := f.r.IntN(len(queues))
		q, queue := queues[at], first+at
		switch f.r.IntN(12) {
		case 0, 1, 2:
			for range f.r.IntN(5) {
				h := f.items.Emplace(q, item{Value: f.r.Uint64N(50)})
				f.now.creates = append(f.now.creates, h)
				for f.r.IntN(3) > 0 {
					f.set(q, queue, h, anyone())
				}
			}
		case 3:
			h := anyone()
			f.items.Erase(q, h)
			f.now.erased[h] = true
		case 4:
			f.items.Put(q, anyone(), item{Value: f.r.Uint64N(50)})
		case 5:
			few := []store.Handle[item]{anyone(), anyone(), {}}
			f.items.EraseItems(q, few)
			f.now.erased[few[0]], f.now.erased[few[1]] = true, true
		case 6:
			if f.r.IntN(15) == 0 {
				f.items.EraseAll(q)
				f.now.all = true
			}
		default:
			f.set(q, queue, anyone(), anyone())
		}
	}
}

// flush flushes, and does to what is wanted what that is to do. It reports whether the
// items fit.
func (f *flock) flush(ctx context.Context) bool {
	f.t.Helper()
	living := f.living()
	had := f.Pending().Commands > 0
	report, err := f.Flush(ctx)
	if errors.Is(err, store.ErrFull) {
		return false
	}
	f.check(err)
	f.now.join(report.DroppedCalls > 0)
	if !had {
		return true
	}
	real := func(h store.Handle[item]) store.Handle[item] {
		if h.ID.IsProvisional() {
			h, _ = f.items.Resolve(h)
		}
		return h
	}
	slices.SortStableFunc(f.now.sets, func(a, b flockSet) int { return a.queue - b.queue })
	before := make(map[store.Handle[item]]bool)
	for _, h := range living {
		before[h] = true
		if f.now.all || f.now.erased[h] {
			delete(f.want, h)
			delete(f.written, h)
		}
	}
	for _, h := range f.now.creates {
		if made := real(h); !f.now.erased[h] {
			f.want[made] = beside{}
			f.created[made] = true
		} else if !made.ID.IsZero() {
			f.t.Fatalf("%v was created and erased, and is %v", h, made)
		}
	}
	for _, c := range f.now.sets {
		h := real(c.h)
		e, lives := f.want[h]
		if !lives {
			continue
		}
		c.set(&e, real)
		f.want[h] = e
		if c.column == 0 && before[h] {
			f.written[h] = true
		}
	}
	f.now = flockBatch{erased: make(map[store.Handle[item]]bool)}
	f.compareWritten()
	return true
}

// compare compares everything with what is wanted.
func (f *flock) compare(ctx context.Context, when string) {
	f.t.Helper()
	if err := f.Verify(ctx); err != nil {
		f.t.Fatalf("%s: %v", when, err)
	}
	if f.items.Len() != len(f.want) {
		f.t.Fatalf("%s: %d items, want %d", when, f.items.Len(), len(f.want))
	}
	for h, e := range f.want {
		large := f.large.At(h)
		if got := (beside{*f.a.At(h), *f.b.At(h), *f.label.At(h), large[0]}); got != e || large[8] != 0 && large[8] != ^large[0] {
			f.t.Fatalf("%s: %v has %+v, want %+v", when, h, got, e)
		}
		if _, ok := f.marked.Get(h); !ok {
			f.t.Fatalf("%s: %v is not found beside", when, h)
		}
	}
}

// compareWritten compares the list of what the frame wrote.
func (f *flock) compareWritten() {
	f.t.Helper()
	got := make(map[store.Handle[item]]bool)
	for h := range f.a.Written() {
		if got[h] {
			f.t.Fatalf("%v is listed twice", h)
		}
		got[h] = true
	}
	maps.DeleteFunc(f.written, func(h store.Handle[item], _ bool) bool { return f.created[h] || !f.items.Has(h) })
	if !maps.Equal(got, f.written) {
		f.t.Fatalf("%v are listed as written, want %v", got, f.written)
	}
}

// rearrange changes the items at once, or where their rows lie.
func (f *flock) rearrange(ctx context.Context, w *store.Writer) string {
	living, t := f.living(), f.items
	switch f.r.IntN(9) {
	case 0:
		for range f.r.IntN(10) {
			h, err := t.Insert(w, item{Value: f.r.Uint64N(50)})
			if errors.Is(err, store.ErrFull) {
				return "full"
			}
			f.check(err)
			n := f.r.Uint64()
			*f.large.At(h), *f.label.At(h) = [9]uint64{0: n, 8: ^n}, labelOf(n)
			f.want[h] = beside{large: n, label: labelOf(n)}
		}
		return "insert"
	case 1:
		for range min(len(living), f.r.IntN(6)) {
			h := living[f.r.IntN(len(living))]
			t.Remove(w, h)
			delete(f.want, h)
		}
		return "remove"
	case 2:
		if f.r.IntN(6) == 0 {
			t.Clear(w)
			clear(f.want)
		}
		return "clear"
	case 3:
		f.check(store.SortByKey(ctx, t, w, func(v *item) uint64 { return v.Value }))
		return "sort"
	case 4:
		_, _, err := store.Defragment(ctx, t, w, func(a, b *item) int { return int(b.Value) - int(a.Value) }, f.r.IntN(40))
		f.check(err)
		return "defragment"
	case 5:
		for _, m := range store.Maps(t, w) {
			m.Shrink()
		}
		return "shrink"
	case 6:
		f.check(store.Exchange(ctx, f.a, f.b))
		for h, e := range f.want {
			e.a, e.b = e.b, e.a
			f.want[h] = e
		}
		return "exchange"
	default:
		salt := f.r.Uint64()
		f.check(t.ForEachRows(ctx, func(_ context.Context, c store.RowsChunk[item]) error {
			a, b := f.a.Write(c), f.b.Beside(c.Rows())
			for i := range a {
				if a[i].N%3 == salt%3 {
					a[i] = pal{b[i].N + salt, c.Handle(i)}
					f.a.Wrote(c, i)
				}
			}
			return nil
		}))
		for h, e := range f.want {
			if e.a.N%3 == salt%3 {
				e.a = pal{e.b.N + salt, h}
				f.want[h] = e
				f.written[h] = true
			}
		}
		return "a pass"
	}
}

// frame is a frame of random parts, and returns what they were.
func (f *flock) frame(ctx context.Context, w *store.Writer) (when string) {
	for range 1 + f.r.IntN(5) {
		if f.r.IntN(3) > 0 {
			when += " " + f.rearrange(ctx, w)
			f.compare(ctx, when)
			continue
		}
		for range 1 + f.r.IntN(3) {
			f.check(f.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
				f.record([]store.Queue{q}, f.now.queues, f.r.IntN(25))
				return nil
			}))
		}
		when += " flush"
		if !f.flush(ctx) {
			return when + " fails" // and the batch waits
		}
		f.compare(ctx, when)
	}
	return when
}

// outside is a batch of queues whose commands come in turns, flushed until it succeeds or
// is dropped.
func (f *flock) outside(ctx context.Context) string {
	for try := 0; ; try++ {
		queues, err := f.Queues(1 + f.r.IntN(4))
		f.check(err)
		f.record(queues, f.now.queues, f.r.IntN(60))
		if try == 0 {
			f.check(f.Inbox(f.call))
		}
		sum := digest(f.t, f.Store)
		if f.beginFrame(); f.flush(ctx) {
			return fmt.Sprint("flush outside, after ", try)
		}
		if got := digest(f.t, f.Store); got != sum {
			f.t.Fatalf("a flush that failed has changed the digest from %x to %x", sum, got)
		}
		if try == 2 {
			f.check(f.Discard())
			f.now = flockBatch{erased: make(map[store.Handle[item]]bool)}
			return "discard"
		}
	}
}

// call records a call of the inbox, which comes after all passes.
func (f *flock) call(q store.Queue) error {
	passes := f.now
	f.now = flockBatch{creates: slices.Clone(passes.creates), erased: make(map[store.Handle[item]]bool)}
	f.record([]store.Queue{q}, passes.queues+1000, f.r.IntN(8))
	call := f.now
	call.creates = call.creates[len(passes.creates):]
	f.now = passes
	f.now.call = &call
	return nil
}

// join makes the call of the inbox part of the batch, unless it was dropped.
func (b *flockBatch) join(dropped bool) {
	if b.call == nil || dropped {
		return
	}
	b.creates, b.sets, b.all = append(b.creates, b.call.creates...), append(b.sets, b.call.sets...), b.all || b.call.all
	maps.Copy(b.erased, b.call.erased)
}

func playFlock(t *testing.T, seed uint64, workers int) (digests []uint64) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(seed, 7))
	shards, maxItems := []int{1, 3, 64}[seed%3], []int{0, 60, 150}[r.IntN(3)]
	f := newFlock(t, r, store.Options{Workers: workers}, shards, maxItems)
	var saved store.Checkpoint
	var then map[store.Handle[item]]beside
	for round := range 40 {
		var when string
		switch n := r.IntN(10); {
		case n < 4:
			f.check(f.Write(ctx, func(ctx context.Context, w *store.Writer) error {
				f.beginFrame()
				when = f.frame(ctx, w)
				return nil
			}))
			if f.Pending().Commands > 0 {
				f.check(f.Discard())
				f.now = flockBatch{erased: make(map[store.Handle[item]]bool)}
			}
		case n < 7:
			when = f.outside(ctx)
		case n == 7:
			f.check(f.Checkpoint(ctx, &saved))
			then, when = maps.Clone(f.want), "checkpoint"
		case n == 8 && then != nil:
			f.check(f.Rollback(ctx, &saved))
			f.want, when = maps.Clone(then), "rollback"
			f.beginFrame()
			f.compareWritten()
		default:
			var image bytes.Buffer
			f.check(f.Snapshot(ctx, &image))
			sum := digest(t, f.Store)
			f.check(f.Load(ctx, &image))
			if got := digest(t, f.Store); got != sum {
				t.Fatalf("seed %d, round %d: loaded to digest %x, want %x", seed, round, got, sum)
			}
			when = "load"
		}
		f.compare(ctx, fmt.Sprintf("seed %d, round %d:%s", seed, round, when))
		digests = append(digests, digest(t, f.Store))
	}
	return digests
}

// Recorded or at once, in place or by exchange, in frames of several flushes, with flushes
// that fail and are tried again: elements are what a plain map says, for any number of
// workers.
func TestColumnsAreWhatAMapSays(t *testing.T) {
	for seed := range uint64(9) {
		want := playFlock(t, seed, 1)
		for _, workers := range []int{2, 8} {
			if got := playFlock(t, seed, workers); !slices.Equal(got, want) {
				t.Fatalf("seed %d: with %d workers %x, want %x", seed, workers, got, want)
			}
		}
	}
}
