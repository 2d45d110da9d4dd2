package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"handloom/internal/check"
	"handloom/store"
)

type fleet struct {
	*store.Store
	items *store.Table[item]
	small *store.Column[item, uint32]
	name  *store.Column[item, string]
	large *store.Column[item, [12]uint64]
}

func newFleet(t tb, o store.Options) *fleet {
	t.Helper()
	s, table := newTable(t, o, store.TableOptions[item]{Name: "ships", Shards: 3, ChunkItems: 16, Changes: true, MinFree: 2})
	return &fleet{
		Store: s, items: table,
		small: addColumn(t, table, store.ColumnOptions[uint32]{Name: "small", Changes: true}),
		name:  addColumn(t, table, store.ColumnOptions[string]{Name: "name"}),
		large: addColumn(t, table, store.ColumnOptions[[12]uint64]{}),
	}
}

func addColumn[C, T any](t tb, table *store.Table[T], o store.ColumnOptions[C]) *store.Column[T, C] {
	t.Helper()
	return store.AddColumn(table, o)
}

func TestColumn_Lookups(t *testing.T) {
	f := newFleet(t, store.Options{})
	shield := addSparse(t, f.items, store.ColumnOptions[int]{Name: "shield"})
	hs := fill(t, f.Store, f.items, 10)
	q := queues(t, f.Store, 1)[0]
	f.small.Set(q, hs[4], 42)
	shield.Set(q, hs[4], 7)
	f.items.Erase(q, hs[7])
	flush(t, f.Store)
	if v, ok := f.small.Get(hs[4]); !ok || *v != 42 {
		t.Errorf("%v, %t", v, ok)
	}
	for _, h := range []store.Handle[item]{{}, hs[7], {ID: hs[4].ID | 1<<63}, {ID: hs[4].ID + 40<<48}} {
		if v, ok := f.small.Get(h); ok || v != nil {
			t.Errorf("%v has the element %d", h, *v)
		}
		if said := panicOf(func() { f.small.At(h) }); said == "" {
			t.Errorf("At(%v) does not panic", h)
		}
	}
	for h, want := range map[store.Handle[item]]string{
		hs[4]: "small name [12]uint64 shield", hs[5]: "small name [12]uint64", hs[7]: "",
	} {
		var names []string
		for name, element := range f.DumpColumns(h.ID) {
			names = append(names, name)
			if v, ok := element.(*int); ok && *v != 7 {
				t.Errorf("the shield is dumped as %d", *v)
			}
		}
		equal(t, fmt.Sprintf("dump of %v", h), strings.Join(names, " "), want)
	}
	if _, err := f.Close(t.Context()); err != nil || shield.Has(hs[4]) || shield.Len() != 0 {
		t.Errorf("after Close %d items have a shield; %v", shield.Len(), err)
	}
}

func TestRollback_RefusesStateOlderThanAColumn(t *testing.T) {
	ctx := t.Context()
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ships"})
	var before store.Checkpoint
	for says, add := range map[string]func(){
		`column "a"`: func() { addColumn(t, table, store.ColumnOptions[int]{Name: "a"}) },
		`sparse data "b" was added to table "ships"`: func() { addSparse(t, table, store.ColumnOptions[int]{Name: "b"}) },
	} {
		var image, out bytes.Buffer
		noError(t, errors.Join(s.Checkpoint(ctx, &before), s.Snapshot(ctx, &image)))
		add()
		wantError(t, "Rollback", s.Rollback(ctx, &before), store.ErrCheckpoint, says)
		if _, err := before.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), image.Bytes()) {
			t.Errorf("the older checkpoint is written as something else: %v", err)
		}
		wantError(t, "used again", errors.Join(s.Checkpoint(ctx, &before), s.Rollback(ctx, &before)), nil)
	}
	sum := digest(t, s)
	addColumn(t, table, store.ColumnOptions[[]int]{Name: "c"})
	wantError(t, "a column of slices", s.Checkpoint(ctx, &before), store.ErrCheckpoint, "ColumnOptions.Clone")
	equal(t, "digest with columns and without items", digest(t, s), sum)
	addColumn(t, table, store.ColumnOptions[*int]{Name: "d"})
	wantError(t, "a column of pointers is saved", s.Snapshot(ctx, new(bytes.Buffer)), store.ErrSnapshot)
}

func TestCheckpoint_PanicOfElementCloneChangesNothing(t *testing.T) {
	ctx := t.Context()
	for _, sparse := range []bool{false, true} {
		s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2})
		left := 0
		o := store.ColumnOptions[[]int]{Name: "a", Clone: func(dst, src *[]int) {
			if left--; left == 0 {
				panic("clone")
			}
			*dst = append((*dst)[:0], *src...)
		}}
		var c interface {
			Set(q store.Queue, h store.Handle[item], v []int)
		}
		if sparse {
			c = addSparse(t, table, o)
		} else {
			c = addColumn(t, table, o)
		}
		q := queues(t, s, 1)[0]
		for i := range 20 {
			c.Set(q, table.Emplace(q, item{}), []int{i})
		}
		flush(t, s)
		var saved store.Checkpoint
		checkpoint(t, s, &saved)
		sum := digest(t, s)
		for what, call := range map[string]func(context.Context, *store.Checkpoint) error{"Checkpoint": s.Checkpoint, "Rollback": s.Rollback} {
			left = 5
			if err := call(ctx, &saved); !strings.Contains(fmt.Sprint(err), "clone") || digest(t, s) != sum || s.Verify(ctx) != nil {
				t.Errorf("sparse %t, %s: %v; the digest is %x, want %x", sparse, what, err, digest(t, s), sum)
			}
			checkpoint(t, s, &saved)
		}
	}
}

// One late Set pads all creates before it.
func TestSet_PaddingCountsTowardsQueueLimit(t *testing.T) {
	const n = 1000
	run := func(limit int64, early bool) error {
		s, table := newTable(t, store.Options{QueueBytes: limit}, store.TableOptions[item]{})
		c := addColumn(t, table, store.ColumnOptions[[32]byte]{Name: "a"})
		return s.Do(t.Context(), func(q store.Queue) {
			var names []store.Handle[item]
			for range n {
				names = append(names, table.Emplace(q, item{}))
			}
			at := n - 1
			if early {
				at = 0
			}
			c.Set(q, names[at], [32]byte{1})
		})
	}
	const creates = n * int64(unsafe.Sizeof(item{}))
	wantError(t, "an early Set does not fit", run(creates+32, true), nil)
	wantError(t, "a late Set does not fit", run(creates+32*n, false), nil)
	wantError(t, "the padding is not counted", run(creates+32*n-1, false), store.ErrQueueFull)
}

func TestSet_FirstStaleSetsAreReported(t *testing.T) {
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
	equal(t, "names", strings.Join(names, " "), "a0 a1 z0 z1 z2 z3 z4 z5")
	q = queues(t, s, 1)[0]
	for n := range 40 { // of tables that do not exist; the last recorded has the lowest typeId
		q.Erase(compose(uint16(9000-n), 1, 0))
	}
	var tables []uint16
	for _, sample := range flush(t, s).Stale {
		tables = append(tables, sample.TypeID)
	}
	equalLists(t, "tables of stale erases", tables, 8961, 8962, 8963, 8964, 8965, 8966, 8967, 8968)
}

func TestSet_OfOtherQueuesCreatesAllocatesNothing(t *testing.T) {
	plainBuild(t)
	ctx := t.Context()
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	a, b := addColumn(t, table, store.ColumnOptions[uint64]{Name: "a"}), addColumn(t, table, store.ColumnOptions[string]{Name: "b"})
	var made []store.Handle[item]
	create := func(_ int, q store.Queue) {
		made = made[:0]
		for i := range 300 {
			h := table.Emplace(q, item{})
			if i == 10 {
				a.Set(q, h, 1)
			}
			made = append(made, h)
		}
	}
	set := func(_ int, q store.Queue) {
		for i, h := range made {
			a.Set(q, h, uint64(i))
			b.Set(q, h, "b")
		}
		table.EraseAll(q)
	}
	var err error
	frame := func() {
		for _, task := range []func(int, store.Queue){create, set} {
			if err == nil {
				err = s.Each(ctx, 1, task)
			}
		}
		if err == nil {
			_, err = s.Flush(ctx)
		}
	}
	for range 20 {
		frame()
	}
	if n := testing.AllocsPerRun(20, frame); n > 8 || err != nil {
		t.Errorf("%v allocations in a frame, %v", n, err)
	}
	for i, h := range made {
		if real := resolve(t, table, h); *a.At(real) != uint64(i) || *b.At(real) != "b" {
			t.Fatalf("%v has %d and %q", real, *a.At(real), *b.At(real))
		}
	}
}

func TestChunk_OfOtherTablesOrPassesIsRefused(t *testing.T) {
	ctx := t.Context()
	f := newFleet(t, store.Options{Workers: 1})
	other := register(t, f.Store, store.TableOptions[item]{Name: "other"})
	fill(t, f.Store, f.items, 3)
	fill(t, f.Store, other, 3)
	var chunk, rows, zero store.Chunk[item]
	said := func(what string, f func()) {
		t.Helper()
		wantIn(t, "the panic", panicOf(f), what)
	}
	noError(t, errors.Join(
		other.ForEach(ctx, func(c store.Chunk[item]) {
			said("not of table", func() { f.small.Write(c) })
			chunk = c
		}),
		other.ForEachRows(ctx, func(c store.Chunk[item]) {
			said("not of table", func() { f.small.Write(c) })
			said("not of table", func() { f.small.Read(c) })
			said("with a chunk of table", func() { f.small.Wrote(c, 0) })
			said("of a ForEachRows, which only reads items", func() { c.Wrote(0) })
			rows = c
		})))
	said("not of table", func() { f.small.Read(zero) })
	said("kept past its pass", func() { f.small.Write(chunk) })
	said("kept past its pass", func() { f.small.Wrote(rows, 0) })
	said("kept past its pass", func() { rows.Erase(0) })
	said("keeps no changes; add it with ColumnOptions.Changes", func() { f.name.Written() })
}

// Passes that run at the same time over one table have a state each, also after other passes.
func TestForEachRows_RunTogether(t *testing.T) {
	f := newFleet(t, store.Options{Workers: 2})
	fill(t, f.Store, f.items, 1)
	var calls [2]atomic.Int32
	var begun, inside sync.WaitGroup
	run := func(i int) func(context.Context) error {
		return func(ctx context.Context) error {
			begun.Done()
			begun.Wait()
			return f.items.ForEachRows(ctx, func(store.Chunk[item]) {
				inside.Done()
				inside.Wait()
				calls[i].Add(1)
			})
		}
	}
	frame := newSchedule(t, f.Store,
		store.System{Name: "small", Reads: on(f.items), Writes: on(f.small), Run: run(0)},
		store.System{Name: "large", Reads: on(f.items), Writes: on(f.large), Run: run(1)})
	for range 20 {
		for range 2 {
			noError(t, f.items.ForEach(t.Context(), func(store.Chunk[item]) {}))
		}
		begun.Add(2)
		inside.Add(2)
		noError(t, onlyError(frame.Run(t.Context())))
	}
	equal(t, "calls of the first", calls[0].Load(), 20)
	equal(t, "calls of the second", calls[1].Load(), 20)
}

func TestExchange_SwapsColumns(t *testing.T) {
	ctx := t.Context()
	s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Shards: 2, ChunkItems: 16})
	cur, next := addColumn(t, table, store.ColumnOptions[int]{Name: "cur"}), addColumn(t, table, store.ColumnOptions[int]{Name: "next"})
	h := fill(t, s, table, 100)[10]
	*cur.At(h), *next.At(h) = 10, -10
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	far := addColumn(t, other, store.ColumnOptions[int]{Name: "far"})
	cloned := addColumn(t, table, store.ColumnOptions[int]{Name: "cloned", Clone: func(dst, src *int) { *dst = *src }})
	runFrame(t, s, func(ctx context.Context, _ *store.Writer) error {
		for says, column := range map[string]*store.Column[item, int]{"two tables": far, "Clone": cloned} {
			wantText(t, "Exchange", store.Exchange(ctx, cur, column), says)
		}
		wantError(t, "during a pass in the Write", table.ForEachRows(ctx, func(r store.Chunk[item]) { r.Queue.Fail(store.Exchange(ctx, cur, next)) }), store.ErrPhase)
		return errors.Join(store.Exchange(ctx, cur, next), store.Exchange(ctx, cur, cur))
	})
	exchange := func(ctx context.Context) error { return store.Exchange(ctx, cur, next) }
	both := newSchedule(t, s, store.System{Name: "both", Writes: on(cur, next), Run: exchange})
	half := newSchedule(t, s, store.System{Name: "half", Reads: on(cur), Writes: on(next), Run: exchange})
	if _, err := both.Run(ctx); err != nil || *cur.At(h) != 10 || *next.At(h) != -10 {
		t.Errorf("exchanged twice: %d and %d, want 10 and -10; %v", *cur.At(h), *next.At(h), err)
	}
	if _, err := half.Run(ctx); !errors.Is(err, store.ErrPhase) || !strings.Contains(err.Error(), `item.cur"`) || *cur.At(h) != 10 {
		t.Errorf("in a system that reads one of them: %v; %d", err, *cur.At(h))
	}
}

// The pool drops its contents at a collection, so the test measures inside a pass.
func TestForEachRows_ReleasesRowLists(t *testing.T) {
	plainBuild(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // pools keep memory by processor
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for name, left := range map[string]int{"same items": 400_000, "fewer items": 1000} {
		t.Run(name, func(t *testing.T) {
			const n, few = 400_000, 256 << 10
			const many = n * bits.UintSize / 8 / 2 // half of the row numbers
			s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Changes: true, ChunkItems: 4096})
			c := addColumn(t, table, store.ColumnOptions[byte]{Changes: true})
			fill(t, s, table, n)
			pass := func(all bool) {
				noError(t, table.ForEachRows(t.Context(), func(r store.Chunk[item]) {
					for i := range r.Items {
						if all {
							c.Wrote(r, i)
						}
					}
				}))
			}
			measure := func() (bytes int64) {
				noError(t, table.ForEachRows(t.Context(), func(r store.Chunk[item]) {
					if r.Index == 0 {
						bytes = heap()
					}
				}))
				return bytes
			}
			pass(true)
			flush(t, s)
			with := measure()
			runtime.GC()
			runtime.GC()
			without := measure()
			atLeast(t, "bytes of lists after a pass that wrote", with-without, many)
			pass(true)
			if left < n {
				noError(t, table.ForEach(t.Context(), func(r store.Chunk[item]) {
					for i := range r.Items {
						if int(r.Handle(i).ID.Slot()) > left {
							r.Erase(i)
						}
					}
				}))
			}
			flush(t, s)
			for range 200 {
				pass(false)
			}
			with = measure()
			runtime.GC()
			runtime.GC()
			atMost(t, "bytes of lists after passes that wrote nothing", with-measure(), few)
		})
	}
}

func TestForEach_ReleasesRowLists(t *testing.T) {
	plainBuild(t)
	const n = 400_000
	type pass func(*store.Chunk[item], int)
	used := func(t *testing.T, note pass, left int, most int64) (bytes int64) {
		before := heap() // the stores of earlier cases end with the test
		s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Changes: true, ChunkItems: 4096})
		fill(t, s, table, n)
		forEach := func(do pass) {
			noError(t, table.ForEach(t.Context(), func(c store.Chunk[item]) {
				for i := range c.Items {
					do(&c, i)
				}
			}))
		}
		forEach(note)
		forEach(func(c *store.Chunk[item], i int) {
			if int(c.Handle(i).ID.Slot()) > left {
				c.Erase(i)
			}
		})
		flush(t, s)
		for range 200 {
			forEach(func(*store.Chunk[item], int) {})
		}
		check.Collected(func() bool { bytes = heap() - before; return bytes <= most })
		runtime.KeepAlive(s)
		return bytes
	}
	for name, left := range map[string]int{"same items": n, "fewer items": 1000} {
		t.Run(name, func(t *testing.T) {
			base := used(t, func(*store.Chunk[item], int) {}, left, math.MaxInt64)
			wrote := used(t, func(c *store.Chunk[item], i int) { c.Wrote(i) }, left, base+n*4)
			if lists := wrote - base; lists > n*4 {
				t.Errorf("%d bytes after 200 passes that wrote nothing, want %d at most", lists, n*4)
			}
		})
	}
}
