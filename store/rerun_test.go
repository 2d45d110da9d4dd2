package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/store"
)

// A simulation is one of which every frame depends on the state, the number
// of the frame and nothing else, as in a game whose input is known.
type simulation struct {
	*store.Store
	packed  *store.Table[item]
	tables  []itemTable
	seed    uint64
	number  uint64          // of the next frame
	digests []uint64        // before each frame, by number
	epochs  []uint64        // likewise
	reports []*store.Report // of each frame; nil when its flush failed
}

func newSimulation(t tb, seed uint64, frames, workers int) *simulation {
	t.Helper()
	w := &simulation{
		Store: newStore(t, store.Options{Workers: workers}), seed: seed,
		digests: make([]uint64, frames+1), epochs: make([]uint64, frames+1), reports: make([]*store.Report, frames),
	}
	w.packed = register(t, w.Store, store.TableOptions[item]{Name: "packed", Shards: 3, ChunkItems: 8, FixedKeys: true})
	w.tables = []itemTable{
		packedTable{w.packed},
		registerKind(t, w.Store, store.TableOptions[item]{Name: "stable", Shards: 2, ChunkItems: 5, MinFree: 2}, true),
		registerKind(t, w.Store, store.TableOptions[item]{Name: "few", ChunkItems: 3, MaxItems: 20}, seed%2 == 0),
	}
	return w
}

// random is for one part of one frame.
func (w *simulation) random(part, chunk int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed, w.number<<20|uint64(part)<<16|uint64(chunk)))
}

// frame runs the next frame.
func (w *simulation) frame(ctx context.Context, t tb) {
	t.Helper()
	errs := []error{w.Write(ctx, w.rearrange)}
	for i, table := range w.tables {
		errs = append(errs, table.visit(ctx, func(chunk int, q store.Queue, items itemSeq) error {
			w.age(w.random(i, chunk), table, q, items)
			return nil
		}))
	}
	errs = append(errs, w.Each(ctx, 4, func(_ context.Context, task int, q store.Queue) error {
		r := w.random(9, task)
		for range r.IntN(12) {
			w.tables[r.IntN(3)].Emplace(q, item{Value: r.Uint64N(50)})
		}
		return nil
	}))
	report, err := w.Flush(ctx)
	switch {
	case err == nil:
		w.reports[w.number] = report.Clone()
	case errors.Is(err, store.ErrFull): // of an input that asks for too much
		errs = append(errs, w.Discard())
	default:
		t.Fatal(err)
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	w.number++
	w.note(t)
}

// note notes digest and epoch before the next frame.
func (w *simulation) note(t tb) {
	t.Helper()
	w.digests[w.number] = digest(t, w.Store)
	w.epochs[w.number] = w.Epoch()
}

func (w *simulation) age(r *rand.Rand, table itemTable, q store.Queue, items itemSeq) {
	for h, v := range items {
		v.Links[1]++ // not what the items are ordered by
		switch r.IntN(9) {
		case 0, 1:
			table.Erase(q, h)
		case 2:
			table.Put(q, h, item{Value: r.Uint64N(50), Parent: h})
		case 3:
			child := w.tables[r.IntN(3)].Emplace(q, item{Value: v.Value, Parent: h})
			table.Put(q, h, item{Value: v.Value, Links: [2]store.ID{child.ID}})
		case 4:
			q.Erase(v.Links[0])
		}
	}
}

// rearrange makes changes at once, and some that take several frames.
func (w *simulation) rearrange(_ context.Context, writer *store.Writer) error {
	r := w.random(8, 0)
	byValue := func(a, b *item) int { return int(a.Value) - int(b.Value) }
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
	switch table := w.tables[r.IntN(3)]; r.IntN(6) {
	case 0:
		table.Clear(writer)
	case 1:
		_, err := table.Insert(writer, item{Value: r.Uint64N(50)})
		if !errors.Is(err, store.ErrFull) {
			return err
		}
	}
	return nil
}

// follows compares the last frame with the same one of a simulation that never went
// back.
func (w *simulation) follows(t tb, straight *simulation) {
	t.Helper()
	n := w.number
	if w.digests[n] != straight.digests[n] || w.epochs[n] != straight.epochs[n] {
		t.Fatalf("after frame %d the digest is %x at epoch %d, want %x at %d",
			n, w.digests[n], w.epochs[n], straight.digests[n], straight.epochs[n])
	}
	if n == 0 {
		return
	}
	a, b := w.reports[n-1], straight.reports[n-1]
	if (a == nil) != (b == nil) || a != nil && !a.Equal(b) {
		t.Fatalf("frame %d reports %v, want %v", n-1, a, b)
	}
}

// moment is a checkpoint and the number of the frame that comes next.
type moment struct {
	store.Checkpoint
	number uint64
	taken  bool
}

// goBack makes a simulation go on and back at random, with moments of which it keeps
// a few.
func goBack(t *testing.T, seed uint64, frames, workers int) {
	straight := newSimulation(t, seed, frames, 1)
	straight.note(t)
	for range frames {
		straight.frame(t.Context(), t)
	}
	w := newSimulation(t, seed, frames, workers)
	w.note(t)
	r := rand.New(rand.NewPCG(seed, 1))
	moments := make([]moment, 3)
	wander := func(ctx context.Context) error {
		for range 3 * frames {
			m := &moments[r.IntN(len(moments))]
			switch do := r.IntN(6); {
			case do == 0:
				if err := w.Checkpoint(ctx, &m.Checkpoint); err != nil {
					t.Fatal(err)
				}
				m.number, m.taken = w.number, true
			case m.taken && (do == 1 || w.number == uint64(frames)):
				w.packed.Emplace(queues(t, w.Store, 1)[0], item{}) // to be dropped
				if err := w.Rollback(ctx, &m.Checkpoint); err != nil {
					t.Fatal(err)
				}
				w.number = m.number
				w.note(t)
				if err := w.Verify(ctx); err != nil {
					t.Fatal(err)
				}
			case w.number < uint64(frames):
				w.frame(ctx, t)
			}
			w.follows(t, straight)
		}
		return nil
	}
	if seed%3 == 0 {
		_ = wander(t.Context())
	} else if err := w.Team(t.Context(), wander); err != nil {
		t.Fatal(err)
	}
}

func TestAStoreRolledBackAndRunAgainIsLikeOneThatNeverWas(t *testing.T) {
	for seed := range uint64(24) {
		workers := []int{1, 2, 3, 7}[seed%4]
		t.Run(fmt.Sprintf("seed=%d/workers=%d", seed, workers), func(t *testing.T) { goBack(t, seed, 10, workers) })
	}
}

func TestWithNarrowFieldsARerunIsTheSameToo(t *testing.T) {
	setWidths(t, 7, 40)
	for seed := range uint64(24) {
		workers := []int{1, 2, 3, 7}[seed%4]
		t.Run(fmt.Sprintf("seed=%d/workers=%d", seed, workers), func(t *testing.T) { goBack(t, seed, 25, workers) })
	}
}
