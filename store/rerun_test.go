package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/store"
)

// simulation is a store whose frames depend only on the state and the frame number, as in a
// game with known input.
type simulation struct {
	*store.Store
	packed       *store.Table[item]
	tables       []itemTable
	seed, number uint64
}

func newSimulation(t tb, seed uint64, workers int) *simulation {
	t.Helper()
	w := &simulation{Store: newStore(t, store.Options{Workers: workers}), seed: seed}
	w.packed = register(t, w.Store, store.TableOptions[item]{Name: "packed", Shards: 3, ChunkItems: 8, FixedKeys: true})
	stable := registerKind(t, w.Store, store.TableOptions[item]{Name: "stable", Shards: 2, ChunkItems: 5, MinFree: 2}, true)
	w.tables = []itemTable{packedTable{w.packed}, stable}
	return w
}

// random returns the source for one step of the next frame.
func (w *simulation) random(part, chunk int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, w.number<<20|uint64(part)<<16|uint64(chunk)))
}

// frame runs the next frame, and returns its outcome.
func (w *simulation) frame(t tb) string {
	t.Helper()
	ctx := context.Background()
	errs := []error{w.Write(ctx, w.rearrange)}
	for i, table := range w.tables {
		errs = append(errs, table.visit(ctx, func(chunk int, q store.Queue, items itemSeq) error {
			w.age(w.random(i, chunk), table, q, items)
			return nil
		}))
	}
	errs = append(errs, w.Each(ctx, 4, func(task int, q store.Queue) {
		r := w.random(9, task)
		for range r.IntN(12) {
			w.tables[r.IntN(2)].Emplace(q, item{Value: r.Uint64N(50)})
		}
	}))
	noError(t, errors.Join(errs...))
	outcome := "full"
	if report, err := w.Flush(ctx); err == nil {
		outcome = fmt.Sprint(report.Tables)
	} else if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	w.number++
	return fmt.Sprintf("%x %d %s", digest(t, w.Store), w.Epoch(), outcome)
}

func (w *simulation) age(r *rand.Rand, table itemTable, q store.Queue, items itemSeq) {
	for h, v := range items {
		v.Links[1]++ // not the sort key
		switch r.IntN(9) {
		case 0, 1:
			table.Erase(q, h)
		case 2:
			table.Put(q, h, item{Value: r.Uint64N(50), Parent: h})
		case 3:
			child := w.tables[r.IntN(2)].Emplace(q, item{Value: v.Value, Parent: h})
			table.Put(q, h, item{Value: v.Value, Links: [2]store.ID{child.ID}})
		case 4:
			q.Erase(v.Links[0])
		}
	}
}

// rearrange makes changes at once, and some that take several frames.
func (w *simulation) rearrange(_ context.Context, writer *store.Writer) error {
	r := w.random(8, 0)
	for _, m := range store.Maps(w.packed, writer) {
		switch r.IntN(8) {
		case 0:
			m.SortFunc(byValue)
		case 1:
			m.Partition(func(v *item) bool { return v.Value%2 == 0 })
		case 2:
			m.Reset()
		case 3:
			m.Shrink()
		default:
			m.Defragment(byValue, 1+r.IntN(9))
		}
	}
	return nil
}

// rerun runs frames, goes back to random checkpoints and runs the later frames again.
func rerun(t *testing.T, seed uint64, frames int) {
	straight := newSimulation(t, seed, 1)
	var want []string
	for range frames {
		want = append(want, straight.frame(t))
	}
	w := newSimulation(t, seed, []int{1, 2, 3, 7}[seed%4])
	r := rand.New(rand.NewPCG(seed, 1))
	var moments [3]struct {
		store.Checkpoint
		number uint64
	}
	for i := range moments {
		checkpoint(t, w.Store, &moments[i].Checkpoint)
	}
	for range 3 * frames {
		switch m := &moments[r.IntN(3)]; {
		case r.IntN(6) == 0:
			checkpoint(t, w.Store, &m.Checkpoint)
			m.number = w.number
		case r.IntN(6) == 0 || w.number == uint64(frames):
			rollback(t, w.Store, &m.Checkpoint)
			w.number = m.number
		default:
			if got := w.frame(t); got != want[w.number-1] {
				t.Fatalf("seed %d: frame %d comes to\n%s, want\n%s", seed, w.number-1, got, want[w.number-1])
			}
		}
	}
}

func TestRollback_RerunsIdentically(t *testing.T) {
	t.Run("full", func(t *testing.T) {
		for seed := range uint64(24) {
			rerun(t, seed, 10)
		}
	})
	t.Run("narrow", func(t *testing.T) {
		setWidths(t, 7, 40)
		for seed := range uint64(16) {
			rerun(t, seed, 25)
		}
	})
}
