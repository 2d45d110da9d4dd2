package store_test

import (
	"context"
	"slices"
	"testing"

	"handloom/store"
)

func TestClear_DropsSparseData(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		f := newWithShields(t, stable)
		f.write(func(_ context.Context, w *store.Writer) {
			f.items.Clear(w)
			equal(t, "items with a shield", f.shield.Len(), 0)
		})
	})
}

func TestSortAsTable_SortsWhatIsLeft(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for erased := range 10 {
			f := newWithShields(t, stable)
			f.write(func(_ context.Context, w *store.Writer) {
				for i := range erased {
					f.items.Remove(w, f.hs[i*3%10])
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

type withShields struct {
	*store.Store
	t      *testing.T
	items  itemTable
	shield *store.Sparse[item, int]
	hs     []store.Handle[item]
}

func newWithShields(t *testing.T, isStable bool) *withShields {
	f := &withShields{Store: newStore(t, store.Options{}), t: t}
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

func (f *withShields) write(fn func(ctx context.Context, w *store.Writer)) {
	f.t.Helper()
	noError(f.t, onlyError(f.Frame(f.t.Context(), func(ctx context.Context, w *store.Writer) error {
		fn(ctx, w)
		return nil
	})))
	noError(f.t, f.Verify(f.t.Context()))
}
