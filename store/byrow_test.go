package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"

	"pgregory.net/rapid"
)

// An erase by row erases the item of that time, whatever moves before the flush.
func TestChunkErase_EqualsEraseByHandle(t *testing.T) {
	program := rapid.SliceOfN(drawTwinStep(true), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		if rapid.Bool().Draw(t, "narrow") {
			setWidths(t, 3, 200)
		}
		o := store.TableOptions[item]{
			Shards: rapid.IntRange(1, 3).Draw(t, "shards"), ChunkItems: rapid.IntRange(1, 40).Draw(t, "chunk"),
			MaxItems: 90, MinFree: rapid.IntRange(0, 2).Draw(t, "minfree"),
		}
		a, b := newTwin(t, o, false), newTwin(t, o, true)
		n := rapid.IntRange(0, 60).Draw(t, "items")
		fill(t, a.Store, a.table, n)
		fill(t, b.Store, b.table, n)
		for _, step := range program.Draw(t, "program") {
			outA, outB := a.do(t.Context(), nil, step), b.do(t.Context(), nil, step)
			equalLists(t, fmt.Sprintf("%+v", step), outA, outB...)
			equal(t, fmt.Sprintf("%+v: the digest, and the one by handle", step), digest(t, a.Store), digest(t, b.Store))
		}
	})
}

// twin is one of two stores that run the same steps: one erases by row, one by handle.
type twin struct {
	*store.Store
	table    *store.Table[item]
	byHandle bool
	groups   store.Groups[item, item]
	frame    *store.Schedule
	wanted   eraseWanted
	saved    store.Checkpoint
}

func newTwin(t tb, o store.TableOptions[item], byHandle bool) *twin {
	w := &twin{byHandle: byHandle}
	w.Store, w.table = newTable(t, store.Options{}, o)
	on := []store.Resource{w.table}
	w.frame = store.NewSchedule(w.Store, store.System{
		Name: "erase", Writes: on, Emits: on,
		Run: func(ctx context.Context) error { return w.pass(ctx, w.wanted) },
	})
	noError(t, w.Checkpoint(context.Background(), &w.saved))
	return w
}

type twinStep struct {
	kind  string
	n     int
	erase eraseWanted
	inner []twinStep
}

type eraseWanted struct {
	kind    string
	divisor uint64
	twice   bool
	creates bool
	fails   bool
}

func drawTwinStep(outside bool) *rapid.Generator[twinStep] {
	kinds := []string{"pass", "pass", "pass", "flush", "frame"}
	if outside {
		kinds = append(kinds, "write", "write", "write", "discard", "checkpoint", "rollback")
	} else {
		kinds = append(kinds, "insert", "remove", "replace", "sort", "clear")
	}
	return rapid.Custom(func(t *rapid.T) twinStep {
		step := twinStep{kind: rapid.SampledFrom(kinds).Draw(t, "kind"), n: rapid.IntRange(0, 12).Draw(t, "n")}
		switch step.kind {
		case "write":
			step.inner = rapid.SliceOfN(drawTwinStep(false), 1, 6).Draw(t, "inner")
		case "pass", "frame":
			step.erase = eraseWanted{
				kind:    rapid.SampledFrom([]string{"items", "rows", "groups"}).Draw(t, "pass"),
				divisor: rapid.Uint64Range(1, 7).Draw(t, "divisor"),
				twice:   rapid.IntRange(0, 3).Draw(t, "twice") == 0,
				creates: rapid.Bool().Draw(t, "creates"),
				fails:   rapid.IntRange(0, 5).Draw(t, "fails") == 0,
			}
		}
		return step
	})
}

// do runs a step, in a Write if wr is not nil.
func (w *twin) do(ctx context.Context, wr *store.Writer, step twinStep) (out []string) {
	var report *store.Report
	var err error
	switch step.kind {
	case "pass":
		err = w.pass(ctx, step.erase)
	case "frame":
		w.wanted = step.erase
		report, err = w.frame.Run(ctx)
	case "flush":
		report, err = w.Flush(ctx)
	case "discard":
		err = w.Discard()
	case "checkpoint":
		err = w.Checkpoint(ctx, &w.saved)
	case "rollback":
		err = w.Rollback(ctx, &w.saved)
	case "write":
		_, err = w.Frame(ctx, func(ctx context.Context, wr *store.Writer) error {
			for _, step := range step.inner {
				out = append(out, w.do(ctx, wr, step)...)
			}
			return nil
		})
	default:
		err = w.change(ctx, wr, step.kind, step.n)
	}
	if err != nil {
		out = append(out, err.Error())
	} else if report != nil {
		out = append(out, report.String())
		for _, stale := range report.Stale {
			out = append(out, stale.String())
		}
	}
	return out
}

func (w *twin) pass(ctx context.Context, e eraseWanted) error {
	task := func(q store.Queue, items []item, handle func(int) store.Handle[item], erase func(int)) error {
		if w.byHandle {
			erase = func(i int) { w.table.Erase(q, handle(i)) }
		}
		for i := range items {
			if items[i].Value%e.divisor != 0 {
				continue
			}
			if erase(i); e.twice {
				erase(i)
			}
			if e.creates {
				w.table.Emplace(q, item{Value: items[i].Value*5 + 1, Parent: handle(i)})
			}
		}
		if e.fails {
			return errTask
		}
		return nil
	}
	switch e.kind {
	case "items":
		return w.table.ForEach(ctx, func(c store.Chunk[item]) {
			c.Queue.Fail(task(c.Queue, c.Items, c.Handle, c.Erase))
		})
	case "rows":
		return w.table.ForEachRows(ctx, func(c store.Chunk[item]) {
			c.Queue.Fail(task(c.Queue, c.Items, c.Handle, c.Erase))
		})
	}
	if err := store.GroupBy(ctx, &w.groups, w.table, w.table, parent); err != nil {
		return err
	}
	return w.groups.ForEach(ctx, func(c store.GroupChunk[item, item]) {
		c.Owners.Queue.Fail(task(c.Owners.Queue, c.Owners.Items, c.Owners.Handle, c.Owners.Erase))
	})
}

// change changes the table at once.
func (w *twin) change(ctx context.Context, wr *store.Writer, kind string, n int) error {
	var hs []store.Handle[item]
	for h := range w.table.All() {
		hs = append(hs, h)
	}
	switch kind {
	case "insert":
		for i := range n {
			w.table.Insert(wr, item{Value: uint64(100*n + i)})
		}
	case "remove":
		for i := 0; i < n && len(hs) > 0; i++ {
			w.table.Remove(wr, hs[i*7%len(hs)])
		}
	case "replace": // the last row and its slot are reused
		if len(hs) > 0 {
			w.table.Remove(wr, hs[len(hs)-1])
			w.table.Insert(wr, item{Value: uint64(n)})
		}
	case "sort":
		return store.SortFunc(ctx, w.table, wr, func(a, b *item) int {
			return cmp.Compare(a.Value%uint64(n+2), b.Value%uint64(n+2))
		})
	case "clear":
		w.table.Clear(wr)
	}
	return nil
}

func TestChunkErase_CountsTowardsQueueLimit(t *testing.T) {
	for _, twice := range []bool{false, true} {
		s, table := newTable(t, store.Options{QueueLimit: 20}, store.TableOptions[item]{ChunkItems: 20})
		hs := fill(t, s, table, 20)
		err := table.ForEach(t.Context(), func(c store.Chunk[item]) {
			for i := range c.Items {
				c.Erase(i)
			}
			if twice {
				c.Erase(3)
			}
		})
		equal(t, "one more than the limit: the queue is full", errors.Is(err, store.ErrQueueFull), twice)
		if pending := s.Pending(); pending.Commands != 20 && !twice || pending.Commands != 0 && twice {
			t.Errorf("one more than the limit: %t; %+v are pending", twice, pending)
		}
		flush(t, s)
		equal(t, "one more than the limit: an item lives", table.Has(hs[0]), twice)
	}
}

// A change after a pass in a Frame moves rows that the pass has recorded.
func TestChunkErase_InsideAWriteNamesItems(t *testing.T) {
	if check.Cheap {
		t.Skip("a checked build refuses systems that emit what they do not name")
	}
	for _, pass := range []string{"items", "rows", "groups"} {
		t.Run(pass, func(t *testing.T) {
			s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
			names := fill(t, s, table, 3)
			y := &twin{Store: s, table: table, wanted: eraseWanted{kind: pass, divisor: 3}}
			// The system does not list the table in Emits, so the Run does not flush it.
			frame := newSchedule(t, s, store.System{Name: "only", Writes: on(table), Run: func(ctx context.Context) error { return y.pass(ctx, y.wanted) }})
			_, err := s.Frame(t.Context(), func(ctx context.Context, w *store.Writer) error {
				table.Remove(w, table.Insert(w, item{})) // later changes are not noted any more
				if _, err := frame.Run(ctx); err != nil {
					return err
				}
				last := func(a, b *item) int { return cmp.Compare(b.Value, a.Value) }
				return errors.Join(store.SortFunc(ctx, table, w, last), onlyError(s.Flush(ctx)))
			})
			if err != nil || table.Has(names[0]) || table.Len() != 2 {
				t.Errorf("the erased item lives: %t, of %d; %v", table.Has(names[0]), table.Len(), err)
			}
		})
	}
}

func TestChunkErase_WriteResolvesItsTableOnly(t *testing.T) {
	s := newStore(t, store.Options{})
	var tables []*store.Table[item]
	var names []store.Handle[item]
	for i := range 3 {
		table := register(t, s, store.TableOptions[item]{Name: fmt.Sprint(i), Shards: 1 + i%2})
		names = append(names, fill(t, s, table, 8)...)
		tables = append(tables, table)
	}
	for _, table := range tables {
		y := &twin{Store: s, table: table}
		noError(t, y.pass(t.Context(), eraseWanted{kind: "items", divisor: 4}))
	}
	for _, table := range tables {
		write(t, s, func(w *store.Writer) {
			for h, v := range table.All() {
				if v.Value == 1 {
					table.Remove(w, h)
					break
				}
			}
		})
	}
	wantFlush(t, s, batch.Counts{Erased: 6})
	for i, name := range names {
		if got, want := tables[i/8].Has(name), i%8 != 0 && i%8 != 1 && i%8 != 4; got != want {
			t.Errorf("item %d of table %d lives: %t, want %t", i%8, i/8, got, want)
		}
	}
}
