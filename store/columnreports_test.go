package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// component is a column or sparse data, as a system of the tests uses it.
type component interface {
	store.Resource
	Set(q store.Queue, h store.Handle[item], v uint32)
}

// The report of a Run has a line for each column and for sparse data, with the counts of
// all its flushes, and Flushed has the sum over all frames.
func TestReport_TellsColumnsApart(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 3))
			s := newStore(t, store.Options{Workers: 2})
			var components []component      // by typeId, and then as added
			var names []string              // in reports
			var owners []store.Handle[item] // of an item of the table of the component
			for i, name := range []string{"a", "a.b", "c"} {
				table := register(t, s, store.TableOptions[item]{Name: name, Shards: 1 + i%2})
				added := []component{
					addColumn(t, table, store.ColumnOptions[uint32]{Name: "x"}),
					addSparse[uint32](t, table, store.ColumnOptions[uint32]{Name: "y"}),
					addColumn(t, table, store.ColumnOptions[uint32]{Name: "z"}),
				}
				h := fill(t, s, table, 1)[0]
				for _, c := range added {
					components, owners, names = append(components, c), append(owners, h), append(names, name+"."+c.Name())
				}
			}
			sum := make(map[string]batch.Counts)
			for frame := range 6 {
				want := make(map[string]batch.Counts)
				var systems []store.System
				for number := range 1 + r.IntN(4) {
					sets := make([]int, len(components))
					var emits []store.Resource
					for i := range sets {
						if r.IntN(2) == 0 {
							continue
						}
						sets[i] = 1 + r.IntN(5)
						emits = append(emits, components[i])
						counts := want[names[i]]
						counts.Put++
						counts.Superseded += sets[i] - 1
						want[names[i]] = counts
					}
					systems = append(systems,
						store.System{Name: fmt.Sprint("set ", number), Emits: emits, Run: func(ctx context.Context) error {
							return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
								for i, n := range sets {
									for v := range n {
										components[i].Set(q, owners[i], uint32(v))
									}
								}
								return nil
							})
						}},
						// A reader makes the Sets of the next system part of another flush.
						store.System{Name: fmt.Sprint("read ", number), Reads: resources(components), Run: nothing},
					)
				}
				report, err := newSchedule(t, s, systems...).Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var lines []store.TableReport
				for _, name := range names {
					if counts := want[name]; counts.Commands() > 0 {
						lines = append(lines, store.TableReport{Name: name, Counts: counts})
						total := sum[name]
						total.Add(counts)
						sum[name] = total
					}
				}
				if !slices.Equal(report.Columns, lines) {
					t.Fatalf("frame %d: Columns = %v, want %v", frame, report.Columns, lines)
				}
				var sums []store.TableReport
				for _, name := range names {
					sums = append(sums, store.TableReport{Name: name, Counts: sum[name]})
				}
				if got := s.Flushed().Columns; !reflect.DeepEqual(got, sums) {
					t.Fatalf("frame %d: Columns of Flushed = %v, want %v", frame, got, sums)
				}
			}
		})
	}
}

func resources(components []component) (all []store.Resource) {
	for _, c := range components {
		all = append(all, c)
	}
	return all
}

// Clear leaves no sparse data, whether maps are given out or not, and items that come
// into the slots afterwards have none.
func TestClear_DropsSparseData(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, lent := range []bool{false, true} {
			t.Run(fmt.Sprintf("lent=%t", lent), func(t *testing.T) {
				f := newLender(t, stable)
				other := addSparse[string](t, f.items, store.ColumnOptions[string]{Name: "flag"})
				q := queues(t, f.Store, 1)[0]
				other.Set(q, f.hs[2], "red")
				flush(t, f.Store)
				f.write(func(ctx context.Context, w *store.Writer) {
					if lent {
						f.lend(w)
					}
					f.items.Clear(w)
					if f.shield.Len() > 0 || other.Len() > 0 {
						t.Errorf("after Clear, %d and %d items have data, want none", f.shield.Len(), other.Len())
					}
					for range f.hs {
						h, err := f.items.Insert(w, item{})
						if err != nil || f.shield.Has(h) || other.Has(h) {
							t.Errorf("after Clear, new item %v has data, %v", h, err)
						}
					}
				})
				if f.shield.Len() > 0 || other.Len() > 0 {
					t.Errorf("after the Write, %d and %d items have data, want none", f.shield.Len(), other.Len())
				}
			})
		}
	})
}

// SortAsTable drops the data of items erased through maps, and orders the rest.
func TestSortAsTable_SweepsBeforeItSorts(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for erased := range 10 {
			f := newLender(t, stable)
			q := queues(t, f.Store, 1)[0]
			for _, i := range []int{3, 0, 7} { // rows of data in another order than the items
				f.shield.Unset(q, f.hs[i])
			}
			flush(t, f.Store)
			q = queues(t, f.Store, 1)[0]
			for _, i := range []int{7, 3, 0} {
				f.shield.Set(q, f.hs[i], i)
			}
			flush(t, f.Store)
			f.write(func(_ context.Context, w *store.Writer) {
				erase := f.lend(w)
				for i := range erased {
					erase(f.hs[i*3%10])
				}
				f.shield.SortAsTable(w)
			})
			if n := f.shield.Len(); n != 10-erased {
				t.Errorf("%d of 10 are erased: Len = %d, want %d", erased, n, 10-erased)
			}
			var want, got []store.Handle[item]
			for h := range f.items.All() {
				want = append(want, h)
			}
			err := f.shield.ForEach(t.Context(), func(_ context.Context, c store.SparseChunk[item, int]) error {
				for i, h := range c.Owners {
					if f.hs[c.Items[i]] != h {
						t.Errorf("%v has data of item %d", h, c.Items[i])
					}
				}
				got = append(got, c.Owners...)
				return nil
			})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%d of 10 are erased: owners are %v, want %v; %v", erased, got, want, err)
			}
		}
	})
}

// A table at rest keeps no memory for Written of its columns.
func TestIdleTable_FreesWrittenOfColumns(t *testing.T) {
	if check.Full {
		t.Skip("a checked build allocates")
	}
	const n = 400_000
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{Changes: true})
	column := addColumn(t, table, store.ColumnOptions[uint32]{Name: "x", Changes: true})
	other := register(t, s, store.TableOptions[item]{Name: "other"})
	table.EmplaceItems(queues(t, s, 1)[0], make([]item, n), nil)
	flush(t, s)
	rest := func() {
		for range 300 {
			other.Put(queues(t, s, 1)[0], store.Handle[item]{}, item{})
			flush(t, s)
		}
	}
	pass := func() {
		err := table.ForEachRows(t.Context(), func(_ context.Context, c store.RowsChunk[item]) error {
			for i := range column.Write(c) {
				column.Wrote(c, i)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rest()
	before := heap()
	pass()
	table.Put(queues(t, s, 1)[0], store.Handle[item]{}, item{}) // the table is idle from here on
	flush(t, s)
	if swell := heap() - before; swell < n*2 {
		t.Errorf("the heap grew by %d KiB, want %d KiB at least", swell>>10, n*2>>10)
	}
	if got := len(slices.Collect(column.Written())); got != n {
		t.Errorf("%d elements are written, want %d", got, n)
	}
	rest()
	if left := heap() - before; left > 64<<10 {
		t.Errorf("%d KiB are left at rest, want 64 KiB at most", left>>10)
	}
	if got := len(slices.Collect(column.Written())); got != 0 {
		t.Errorf("%d elements are written at rest, want 0", got)
	}
	pass()
	if got := len(slices.Collect(column.Written())); got != n {
		t.Errorf("after the rest %d elements are written, want %d", got, n)
	}
}
