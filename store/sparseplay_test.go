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

// squad is a table with optional data of every sort, what a program expects of it, and the
// batch that it records.
type squad struct {
	*store.Store
	t      tb
	r      *rand.Rand
	items  itemTable
	bond   *store.Sparse[item, pal]
	trail  *store.Sparse[item, trace]
	tag    *store.Sparse[item, struct{}]
	number *store.Sparse[item, uint64]
	packed *store.Table[item]       // nil: it is stable
	stable *store.StableTable[item] // likewise
	column *store.Column[item, uint64]

	want map[store.Handle[item]]kit
	gone []store.Handle[item]
	now  squadBatch
}

// kit is what an item has, each with whether it has it.
type kit struct {
	bond   option[pal]
	trail  option[pal] // what the trace is made of
	tag    bool
	number option[uint64]
	column uint64
}

type option[V any] struct {
	ok bool
	v  V
}

// squadBatch is what was recorded, in the order of queues.
type squadBatch struct {
	queues  int
	creates []store.Handle[item]
	erased  map[store.Handle[item]]bool
	all     bool
	sets    []squadSet
	counts  map[string]int // commands, by line
}

type squadSet struct {
	queue int
	h     store.Handle[item]
	set   func(k *kit, real func(store.Handle[item]) store.Handle[item])
}

func newSquadBatch() squadBatch {
	return squadBatch{erased: make(map[store.Handle[item]]bool), counts: make(map[string]int)}
}

func addSparse[C, T any](t tb, table store.TableOf[T], o store.ColumnOptions[C]) *store.Sparse[T, C] {
	t.Helper()
	s, err := store.AddSparse(table, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newSquad(t tb, r *rand.Rand, o store.Options, isStable bool, shards, maxItems int) *squad {
	s := newStore(t, o)
	f := &squad{Store: s, t: t, r: r, want: make(map[store.Handle[item]]kit), now: newSquadBatch()}
	f.items = registerKind(t, s, store.TableOptions[item]{Name: "unit", Shards: shards, MaxItems: maxItems, ChunkItems: 16, MinFree: 2}, isStable)
	f.bond = addSparse(t, f.items, store.ColumnOptions[pal]{Name: "bond"})
	if isStable {
		f.stable = f.items.(stable[item]).StableTable
	} else {
		f.packed = f.items.(packed[item]).Table
		f.column = addColumn(t, f.packed, store.ColumnOptions[uint64]{Name: "column"})
	}
	f.trail = addSparse(t, f.items, store.ColumnOptions[trace]{Name: "trail", Clone: cloneTrace, Links: (*trace).links})
	f.tag = addSparse(t, f.items, store.ColumnOptions[struct{}]{Name: "tag"})
	f.number = addSparse(t, f.items, store.ColumnOptions[uint64]{Name: "number"})
	return f
}

func (f *squad) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *squad) living() (all []store.Handle[item]) {
	for h := range f.items.All() {
		all = append(all, h)
	}
	return all
}

func trailOf(p pal) trace {
	return trace{Points: []uint32{uint32(p.N), uint32(p.N >> 32)}, Near: []store.Handle[item]{p.Mate}}
}

func palOf(tr *trace) pal {
	return pal{uint64(tr.Points[0]) | uint64(tr.Points[1])<<32, tr.Near[0]}
}

// set records a Set or an Unset of one of them.
func (f *squad) set(q store.Queue, queue int, h, mate store.Handle[item]) {
	type renamer = func(store.Handle[item]) store.Handle[item]
	n, unset := f.r.Uint64(), f.r.IntN(3) == 0
	c := squadSet{queue: queue, h: h}
	line := ""
	switch which := f.r.IntN(5); {
	case which == 0 && unset:
		f.bond.Unset(q, h)
		line, c.set = "bond", func(k *kit, _ renamer) { k.bond = option[pal]{} }
	case which == 0:
		f.bond.Set(q, h, pal{n, mate})
		line, c.set = "bond", func(k *kit, real renamer) { k.bond = option[pal]{true, pal{n, real(mate)}} }
	case which == 1 && unset:
		f.trail.Unset(q, h)
		line, c.set = "trail", func(k *kit, _ renamer) { k.trail = option[pal]{} }
	case which == 1:
		f.trail.Set(q, h, trailOf(pal{n, mate}))
		line, c.set = "trail", func(k *kit, real renamer) { k.trail = option[pal]{true, pal{n, real(mate)}} }
	case which == 2 && unset:
		f.tag.Unset(q, h)
		line, c.set = "tag", func(k *kit, _ renamer) { k.tag = false }
	case which == 2:
		f.tag.Set(q, h, struct{}{})
		line, c.set = "tag", func(k *kit, _ renamer) { k.tag = true }
	case which == 3 && f.column != nil:
		f.column.Set(q, h, n)
		line, c.set = "column", func(k *kit, _ renamer) { k.column = n }
	case unset:
		f.number.Unset(q, h)
		line, c.set = "number", func(k *kit, _ renamer) { k.number = option[uint64]{} }
	default:
		f.number.Set(q, h, n)
		line, c.set = "number", func(k *kit, _ renamer) { k.number = option[uint64]{true, n} }
	}
	f.now.counts["unit."+line]++
	f.now.sets = append(f.now.sets, c)
}

// record records n commands into queues, which are those from first on.
func (f *squad) record(queues []store.Queue, first, n int) {
	living := f.living()
	anyone := func() store.Handle[item] {
		switch known := f.now.creates; {
		case f.r.IntN(12) == 0 && len(f.gone) > 0:
			return f.gone[f.r.IntN(len(f.gone))]
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
func (f *squad) flush(ctx context.Context) bool {
	f.t.Helper()
	living := f.living()
	had := f.Pending().Commands > 0
	report, err := f.Flush(ctx)
	if errors.Is(err, store.ErrFull) {
		return false
	}
	f.check(err)
	if !had {
		return true
	}
	for _, line := range report.Columns {
		if n := line.Commands(); n != f.now.counts[line.Name] {
			f.t.Fatalf("%v: %d commands are counted, of %d", line, n, f.now.counts[line.Name])
		}
		delete(f.now.counts, line.Name)
	}
	if len(f.now.counts) > 0 {
		f.t.Fatalf("%v have no line", f.now.counts)
	}
	real := func(h store.Handle[item]) store.Handle[item] {
		if h.ID.IsProvisional() {
			h, _ = f.items.Resolve(h)
		}
		return h
	}
	slices.SortStableFunc(f.now.sets, func(a, b squadSet) int { return a.queue - b.queue })
	for _, h := range living {
		if f.now.all || f.now.erased[h] {
			f.forget(h)
		}
	}
	for _, h := range f.now.creates {
		if made := real(h); !f.now.erased[h] {
			f.want[made] = kit{}
		}
	}
	for _, c := range f.now.sets {
		h := real(c.h)
		if k, lives := f.want[h]; lives {
			c.set(&k, real)
			f.want[h] = k
		}
	}
	f.now = newSquadBatch()
	return true
}

func (f *squad) forget(h store.Handle[item]) {
	delete(f.want, h)
	f.gone = append(f.gone, h)
}

// kitOf returns what an item has.
func (f *squad) kitOf(h store.Handle[item]) (k kit) {
	if p, ok := f.bond.Get(h); ok {
		k.bond = option[pal]{true, *p}
	}
	if p, ok := f.trail.Get(h); ok {
		k.trail = option[pal]{true, palOf(p)}
	}
	if p, ok := f.number.Get(h); ok {
		k.number = option[uint64]{true, *p}
	}
	k.tag = f.tag.Has(h)
	if f.column != nil {
		if p, ok := f.column.Get(h); ok {
			k.column = *p
		}
	}
	return k
}

// compare compares everything with what is wanted.
func (f *squad) compare(ctx context.Context, when string) {
	f.t.Helper()
	if err := f.Verify(ctx); err != nil {
		f.t.Fatalf("%s: %v", when, err)
	}
	f.compareLookups(when)
}

func (f *squad) compareLookups(when string) {
	f.t.Helper()
	if f.items.Len() != len(f.want) {
		f.t.Fatalf("%s: %d items, want %d", when, f.items.Len(), len(f.want))
	}
	var lens [4]int
	for h, want := range f.want {
		if got := f.kitOf(h); got != want {
			f.t.Fatalf("%s: %v has %+v, want %+v", when, h, got, want)
		}
		for i, has := range []bool{want.bond.ok, want.trail.ok, want.tag, want.number.ok} {
			if has {
				lens[i]++
			}
		}
	}
	if got := [4]int{f.bond.Len(), f.trail.Len(), f.tag.Len(), f.number.Len()}; got != lens {
		f.t.Fatalf("%s: %v have it, want %v", when, got, lens)
	}
	for _, h := range f.gone {
		if !f.items.Has(h) && f.kitOf(h) != (kit{}) {
			f.t.Fatalf("%s: %v is gone and has %+v", when, h, f.kitOf(h))
		}
	}
}

// rearrange changes the items at once, or where they lie.
func (f *squad) rearrange(ctx context.Context, w *store.Writer) string {
	living, t := f.living(), f.items
	switch f.r.IntN(9) {
	case 0:
		for range f.r.IntN(10) {
			h, err := t.Insert(w, item{Value: f.r.Uint64N(50)})
			if errors.Is(err, store.ErrFull) {
				return "full"
			}
			f.check(err)
			f.want[h] = kit{}
		}
		return "insert"
	case 1:
		for range min(len(living), f.r.IntN(6)) {
			h := living[f.r.IntN(len(living))]
			if t.Remove(w, h) {
				f.forget(h)
			}
		}
		return "remove"
	case 2:
		if f.r.IntN(6) == 0 {
			t.Clear(w)
			f.gone = append(f.gone, living...)
			clear(f.want)
		}
		return "clear"
	case 3:
		if f.packed != nil {
			f.check(store.SortByKey(ctx, f.packed, w, func(v *item) uint64 { return v.Value }))
			_, _, err := store.Defragment(ctx, f.packed, w, func(a, b *item) int { return int(b.Value) - int(a.Value) }, f.r.IntN(40))
			f.check(err)
		}
		return "sort"
	case 4:
		f.number.SortAsTable(w)
		f.trail.SortAsTable(w)
		f.tag.SortAsTable(w)
		return "sort as the table"
	case 5:
		f.eraseByMaps(w)
		f.compareLookups("erased by maps")
		return "maps"
	default:
		return f.visit(ctx)
	}
}

// eraseByMaps erases, and inserts into the slots again, behind the back of the store.
func (f *squad) eraseByMaps(w *store.Writer) {
	chosen := func(h store.Handle[item], _ *item) bool {
		if f.r.IntN(4) > 0 {
			return false
		}
		f.forget(h)
		return true
	}
	if f.packed != nil {
		for _, m := range store.Maps(f.packed, w) {
			m.EraseFunc(chosen)
			if f.r.IntN(4) == 0 {
				m.Shrink()
			}
		}
		return
	}
	for _, m := range store.StableMaps(f.stable, w) {
		m.EraseFunc(chosen)
		if f.r.IntN(4) == 0 {
			m.Shrink()
		}
	}
}

// visit changes what few have in a pass over it, which takes it from some.
func (f *squad) visit(ctx context.Context) string {
	salt := f.r.Uint64()
	f.check(f.number.ForEach(ctx, func(_ context.Context, c store.SparseChunk[item, uint64]) error {
		if len(c.Items) != len(c.Owners) || cap(c.Items) != len(c.Items) || cap(c.Owners) != len(c.Owners) {
			return fmt.Errorf("%d items of %d for %d owners", len(c.Items), cap(c.Items), len(c.Owners))
		}
		for i := range c.Items {
			if c.Items[i]%3 == salt%3 {
				f.number.Unset(c.Queue, c.Owners[i])
				f.tag.Set(c.Queue, c.Owners[i], struct{}{})
			}
			c.Items[i] += salt
		}
		return nil
	}))
	queue := f.now.queues
	for h, k := range f.want {
		if !k.number.ok {
			continue
		}
		if k.number.v%3 == salt%3 {
			f.now.counts["unit.number"]++
			f.now.counts["unit.tag"]++
			f.now.sets = append(f.now.sets, squadSet{queue, h, func(k *kit, _ func(store.Handle[item]) store.Handle[item]) {
				k.number, k.tag = option[uint64]{}, true
			}})
		}
		k.number.v += salt
		f.want[h] = k
	}
	f.now.queues++
	return "a pass"
}

// frame is a frame of random parts, and returns what they were.
func (f *squad) frame(ctx context.Context, w *store.Writer) (when string) {
	for range 1 + f.r.IntN(6) {
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
			return when + " fails"
		}
		f.compare(ctx, when)
	}
	return when
}

// outside is a batch of queues whose commands come in turns, flushed until it succeeds or
// is dropped.
func (f *squad) outside(ctx context.Context) string {
	for try := 0; ; try++ {
		queues, err := f.Queues(1 + f.r.IntN(4))
		f.check(err)
		f.record(queues, f.now.queues, f.r.IntN(60))
		f.check(f.Inbox(func(q store.Queue) error {
			passes := f.now.queues
			f.record([]store.Queue{q}, passes+1000, f.r.IntN(8)) // behind those of passes to come
			f.now.queues = passes
			return nil
		}))
		sum := digest(f.t, f.Store)
		if f.flush(ctx) {
			return fmt.Sprint("flush outside, after ", try)
		}
		if got := digest(f.t, f.Store); got != sum {
			f.t.Fatalf("a flush that failed has changed the digest from %x to %x", sum, got)
		}
		if try == 2 {
			f.discard()
			return "discard"
		}
	}
}

func (f *squad) discard() {
	f.check(f.Discard())
	f.now = newSquadBatch()
}

func playSquad(t *testing.T, seed uint64, isStable bool, workers int) (digests []uint64) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(seed, 11))
	shards, maxItems := []int{1, 3, 64}[seed%3], []int{0, 60, 150}[r.IntN(3)]
	f := newSquad(t, r, store.Options{Workers: workers}, isStable, shards, maxItems)
	var saved store.Checkpoint
	var then map[store.Handle[item]]kit
	for round := range 40 {
		var when string
		switch n := r.IntN(10); {
		case n < 4:
			f.check(f.Write(ctx, func(ctx context.Context, w *store.Writer) error {
				when = f.frame(ctx, w)
				return nil
			}))
			if f.Pending().Commands > 0 {
				f.discard()
			}
		case n < 7:
			when = f.outside(ctx)
		case n == 7:
			f.check(f.Checkpoint(ctx, &saved))
			then, when = maps.Clone(f.want), "checkpoint"
		case n == 8 && then != nil:
			f.check(f.Rollback(ctx, &saved))
			f.want, f.gone, when = maps.Clone(then), nil, "rollback"
		default:
			when = "load"
			f.reload(ctx)
		}
		f.compare(ctx, fmt.Sprintf("seed %d, round %d:%s", seed, round, when))
		digests = append(digests, digest(t, f.Store))
	}
	return digests
}

// reload saves and loads the state.
func (f *squad) reload(ctx context.Context) {
	f.t.Helper()
	var image bytes.Buffer
	f.check(f.Snapshot(ctx, &image))
	sum := digest(f.t, f.Store)
	f.check(f.Load(ctx, &image))
	if got := digest(f.t, f.Store); got != sum {
		f.t.Fatalf("loaded to digest %x, want %x", got, sum)
	}
}

// Recorded, or gone with items that were erased in any way, in frames of several flushes,
// with flushes that fail and are tried again: what items have is what a plain map says,
// for any number of workers.
func TestOptionalDataIsWhatAMapSays(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(9) {
			want := playSquad(t, seed, stable, 1)
			for _, workers := range []int{2, 8} {
				if got := playSquad(t, seed, stable, workers); !slices.Equal(got, want) {
					t.Fatalf("seed %d: with %d workers %x, want %x", seed, workers, got, want)
				}
			}
		}
	})
}
