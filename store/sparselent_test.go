package store_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"handloom/store"
)

// Items that are erased through maps leave the other rows in the same order, however often a
// caller read.
func TestMaps_ReadingKeepsSparseOrder(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		play := func(look bool) uint64 {
			f := newLender(t, stable)
			f.write(func(ctx context.Context, w *store.Writer) {
				erase := f.lend(w)
				for i := range 4 {
					if i%2 == 0 {
						erase(f.hs[i])
						for name := range f.DumpColumns(f.hs[i].ID) {
							t.Errorf("%s of an item that is gone is dumped", name)
						}
					} else {
						f.items.Remove(w, f.hs[i])
					}
					if !look {
						continue
					}
					wantError(t, "", f.Verify(ctx), nil)
				}
			})
			equal(t, "items with a shield", f.shield.Len(), len(f.hs)-4)
			return digest(t, f.Store)
		}
		equal(t, "digest if somebody looked", play(true), play(false))
	})
}

func TestMaps_AreSweptOnce(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		f := newLender(t, stable)
		f.write(func(_ context.Context, w *store.Writer) {
			for range 3 {
				f.lend(w)
			}
			equal(t, "sweeps for one table", f.Lent(), 1)
		})
		equal(t, "sweeps after the Write", f.Lent(), 0)
	})
}

// A Write that has the maps may roll back, load, or panic.
func TestMaps_StateMayBeReplaced(t *testing.T) {
	bothKinds(t, func(t *testing.T, isStable bool) {
		f := newLender(t, isStable)
		var c store.Checkpoint
		var image bytes.Buffer
		noError(t, errors.Join(f.Checkpoint(t.Context(), &c), f.Snapshot(t.Context(), &image)))
		sum := digest(t, f.Store)
		for way, back := range map[string]func(ctx context.Context) error{
			"Rollback": func(ctx context.Context) error { return f.Rollback(ctx, &c) },
			"Load":     func(ctx context.Context) error { return f.Load(ctx, bytes.NewReader(image.Bytes())) },
		} {
			f.write(func(ctx context.Context, w *store.Writer) {
				f.lend(w)(f.hs[0])
				f.items.Remove(w, f.hs[1])
				wantError(t, way, back(ctx), nil)
				equal(t, way+": those with a shield", f.shield.Len(), len(f.hs))
			})
			equal(t, way+": digest", digest(t, f.Store), sum)
		}
	})
}

func TestClear_DropsSparseData(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, exposed := range []bool{false, true} {
			f := newLender(t, stable)
			f.write(func(_ context.Context, w *store.Writer) {
				if exposed {
					f.lend(w)
				}
				f.items.Clear(w)
				equal(t, "items with a shield", f.shield.Len(), 0)
			})
			noError(t, f.Verify(t.Context()))
		}
	})
}

// SortAsTable drops the data of items erased through maps, and sorts the rest.
func TestSortAsTable_SweepsBeforeItSorts(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for erased := range 10 {
			f := newLender(t, stable)
			f.write(func(_ context.Context, w *store.Writer) {
				erase := f.lend(w)
				for i := range erased {
					erase(f.hs[i*3%10])
				}
				f.shield.SortAsTable(w)
			})
			var want, got []store.Handle[item]
			for h := range f.items.All() {
				want = append(want, h)
			}
			err := f.shield.ForEach(t.Context(), func(c store.SparseChunk[item, int]) {
				for i, h := range c.Owners {
					equal(t, "handle of the item that has the data", f.hs[c.Items[i]], h)
				}
				got = append(got, c.Owners...)
			})
			if err != nil || !slices.Equal(got, want) || f.shield.Len() != 10-erased {
				t.Errorf("%d of 10 are erased: owners are %v, want %v; %v", erased, got, want, err)
			}
		}
	})
}

func TestMaps_PanicEndsTheirUse(t *testing.T) {
	f := newLender(t, false)
	func() {
		defer func() { _ = recover() }()
		_ = f.Write(t.Context(), func(w *store.Writer) {
			f.lend(w)(f.hs[3])
			panic("no more")
		})
	}()
	if err := f.Verify(t.Context()); err != nil || f.Lent() != 0 || f.shield.Len() != len(f.hs)-1 {
		t.Errorf("%d tables are lent, %d have one; %v", f.Lent(), f.shield.Len(), err)
	}
}

type lender struct {
	*store.Store
	t      *testing.T
	items  itemTable
	shield *store.Sparse[item, int]
	hs     []store.Handle[item]
}

func newLender(t *testing.T, isStable bool) *lender {
	f := &lender{Store: newStore(t, store.Options{}), t: t}
	f.items = registerKind(t, f.Store, store.TableOptions[item]{Name: "ship"}, isStable)
	f.shield = addSparse(t, f.items, store.ColumnOptions[int]{Name: "shield"})
	q := queues(t, f.Store, 1)[0]
	for i := range 10 {
		h := f.items.Emplace(q, item{})
		f.shield.Set(q, h, i)
		f.hs = append(f.hs, h)
	}
	flush(t, f.Store)
	resolveAll(t, f.items, f.hs)
	return f
}

func (f *lender) write(fn func(ctx context.Context, w *store.Writer)) {
	f.t.Helper()
	noError(f.t, onlyError(f.Frame(f.t.Context(), func(ctx context.Context, w *store.Writer) error {
		fn(ctx, w)
		return nil
	})))
	noError(f.t, f.Verify(f.t.Context()))
}

// lend returns a function that erases through the maps.
func (f *lender) lend(w *store.Writer) (erase func(h store.Handle[item]) bool) {
	if s, ok := f.items.(stable[item]); ok {
		return store.StableMaps(s.StableTable, w)[0].Erase
	}
	return store.Maps(f.items.(packed[item]).Table, w)[0].Erase
}
