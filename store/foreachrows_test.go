package store_test

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"handloom/internal/check"
	"handloom/store"
)

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

// A user of a column waits for systems that move its rows or set it.
func TestColumn_IsAResource(t *testing.T) {
	f := newFleet(t, store.Options{Workers: 2})
	frame := newSchedule(
		t, f.Store,
		store.System{Name: "write small", Writes: on(f.small), Run: nothing},
		store.System{Name: "write large", Reads: on(f.items), Writes: on(f.large), Run: nothing},
		store.System{Name: "set name", Emits: on(f.name), Run: nothing},
		store.System{Name: "emit items", Emits: on(f.items), Run: nothing},
		store.System{Name: "read small", Reads: on(f.small), Run: nothing},
		store.System{Name: "write items", Writes: on(f.items), Run: nothing},
		store.System{Name: "read name", Reads: on(f.name), Run: nothing},
	)
	want := `wave 1
  write small
  write large
  set name
  emit items
flush
    read small reads ships, which emit items emits
wave 2
  read small
    reads ships.small, which write small writes
    reads ships, which emit items emits
wave 3
  write items
    writes ships, which read small reads
wave 4
  read name
    reads ships, which write items writes
`
	equal(t, "Explain", frame.Explain(), want)
	other := newFleet(t, store.Options{})
	err := faultOf(func() { store.NewSchedule(f.Store, store.System{Name: "a", Reads: on(other.small), Run: nothing}) })
	wantText(t, "a column of another store", err, "to another store")
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
