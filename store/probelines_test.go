package store_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"handloom/internal/entrance"
	"handloom/store"
)

func thisLine() (line int) {
	_, _, line, _ = runtime.Caller(1)
	return line
}

// The line of a cause is the call of the program, for each way to write.
func TestProbe_FindsTheLine(t *testing.T) {
	type world struct {
		*store.Store
		table    *store.Table[item]
		column   *store.Column[item, int]
		other    *store.Column[item, int]
		data     *store.Sparse[item, int]
		h        store.Handle[item]
		recorded func(f func(q store.Queue))
	}
	for name, c := range map[string]struct {
		next uint64 // 1: the item in the next slot
		kind string
		run  func(w *world, ctx context.Context, wr *store.Writer) int
	}{
		"Emplace": {1, "create", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) { w.table.Emplace(q, item{}); line = thisLine() })
			return line
		}},
		"EmplaceItems": {1, "create", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) { w.table.EmplaceItems(q, make([]item, 3), nil); line = thisLine() })
			return line
		}},
		"the last Set of a create": {1, "set", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) {
				p := w.table.Emplace(q, item{})
				w.column.Set(q, p, 1)
				w.column.Set(q, p, 2)
				line = thisLine()
			})
			return line
		}},
		"the last of three Puts": {0, "put", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) {
				w.table.Put(q, w.h, item{Value: 7})
				w.table.Put(q, w.h, item{Value: 8})
				w.table.Put(q, w.h, item{Value: 9})
				line = thisLine()
			})
			return line
		}},
		"Unset": {0, "unset", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) { w.data.Unset(q, w.h); line = thisLine() })
			return line
		}},
		"EraseItems": {0, "erase", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) { w.table.EraseItems(q, []store.Handle[item]{w.h, w.h}); line = thisLine() })
			return line
		}},
		"Erase without a type": {0, "erase", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) { q.Erase(w.h.ID); line = thisLine() })
			return line
		}},
		"EraseAll": {0, "erase all", func(w *world, _ context.Context, _ *store.Writer) (line int) {
			w.recorded(func(q store.Queue) { w.table.EraseAll(q); line = thisLine() })
			return line
		}},
		"EraseFunc": {0, "erase", func(w *world, ctx context.Context, _ *store.Writer) (line int) {
			_ = store.EraseFunc(ctx, w.table, func(*item) bool { return true })
			line = thisLine()
			return line
		}},
		"ForEach": {0, "in place", func(w *world, ctx context.Context, _ *store.Writer) (line int) {
			_ = w.table.ForEach(ctx, func(c store.Chunk[item]) { c.Items[0].Value++ })
			line = thisLine()
			return line
		}},
		"Insert": {1, "at once", func(w *world, _ context.Context, wr *store.Writer) (line int) {
			w.table.Insert(wr, item{})
			line = thisLine()
			return line
		}},
		"Put of a Writer": {0, "at once", func(w *world, _ context.Context, wr *store.Writer) (line int) {
			w.data.Put(wr, w.h, 9)
			line = thisLine()
			return line
		}},
		"Exchange": {0, "at once", func(w *world, ctx context.Context, _ *store.Writer) (line int) {
			_ = store.Exchange(ctx, w.column, w.other)
			line = thisLine()
			return line
		}},
		"code of the tick": {0, "in place", func(w *world, _ context.Context, _ *store.Writer) int {
			w.table.At(w.h).Value++
			return 0
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{Store: newStore(t, store.Options{})}
			w.table = register(t, w.Store, store.TableOptions[item]{Name: "items"})
			w.column = addColumn(t, w.table, store.ColumnOptions[int]{Name: "column"})
			w.other = addColumn(t, w.table, store.ColumnOptions[int]{Name: "other"})
			w.data = addSparse(t, w.table, store.ColumnOptions[int]{Name: "data"})
			noError(t, w.Write(t.Context(), func(wr *store.Writer) {
				w.h = w.table.Insert(wr, item{})
				w.data.Put(wr, w.h, 1)
				*w.column.At(w.h) = 5
			}))
			var before store.Checkpoint
			noError(t, w.Checkpoint(t.Context(), &before))
			p := newProbe(t, w.Store)
			noError(t, p.Watch(uint64(w.h.ID)+c.next, ""))
			want := 0
			tick := func() []entrance.Change {
				_, err := w.Frame(t.Context(), func(ctx context.Context, wr *store.Writer) error {
					w.recorded = func(f func(q store.Queue)) { noError(t, w.Do(ctx, f)) }
					want = c.run(w, ctx, wr)
					return nil
				})
				noError(t, err)
				return p.Take()
			}
			all := tick()
			noError(t, w.Rollback(t.Context(), &before))
			p.Locate(causesOf(all))
			tick()
			i := slices.IndexFunc(all, func(change entrance.Change) bool { return change.By.Kind == c.kind })
			if i < 0 {
				t.Fatalf("changes %+v, want one of kind %q", all, c.kind)
			}
			got := []string{"", fmt.Sprint("probelines_test.go:", want), fmt.Sprint("probelines_test.go:", want-1)}
			if want == 0 {
				got = got[:1]
			} else {
				got = got[1:]
			}
			if !slices.Contains(got, all[i].By.Where) {
				t.Errorf("the line of %+v, want one of %q", all[i].By, got)
			}
		})
	}
}
