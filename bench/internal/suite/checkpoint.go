package suite

import (
	"bytes"
	"context"
	"io"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// checkpoints returns the cases of Checkpoint on one worker, and of WriteTo (save) and ReadCheckpoint (load) in memory, which uses another
// goroutine if the store has more workers. For comparison, the
// same memory is copied by hand, in three arrays: items, 8 bytes per slot and 4
// per row.
//
// Memory bounds the copying. Go's copy bypasses the caches from a megabyte on,
// which saves a third of the traffic. A million items of 8 bytes in 8 shards
// are below that, pages of a stable table far below.
func (s full[T]) checkpoints() (cases []measure.Case) {
	for _, op := range []struct {
		name string
		make func(context.Context, *store.Store, *store.Checkpoint) func() error
	}{{"checkpoint", takeCheckpoint}, {"save", writeTo}, {"load", readBack}} {
		for _, impl := range []struct {
			name    string
			stable  bool
			workers int
		}{{"table", false, 1}, {"stabletable", true, 1}, {"table.2workers", false, 2}} {
			if impl.workers > 1 && op.name != "load" {
				continue
			}
			cases = append(cases, s.newCase(op.name, impl.name, func() *measure.Work {
				st, c := newStore(impl.workers), new(store.Checkpoint)
				emplace(st, s.register(st, impl.stable), values[T](s.n))
				ctx := context.Background()
				check(st.Checkpoint(ctx, c))
				f := op.make(ctx, st, c)
				return &measure.Work{Items: s.n, Body: func() { check(f()) }}
			}))
		}
		cases = append(cases, s.newCase(op.name, "copy", func() *measure.Work {
			h := newHandCopy[T](s.n)
			return &measure.Work{Items: s.n, Body: h.copy}
		}))
	}
	return append(cases, s.newMemory())
}

func takeCheckpoint(ctx context.Context, st *store.Store, c *store.Checkpoint) func() error {
	return func() error { return st.Checkpoint(ctx, c) }
}

func writeTo(_ context.Context, _ *store.Store, c *store.Checkpoint) func() error {
	return func() error {
		_, err := c.WriteTo(io.Discard)
		return err
	}
}

func readBack(ctx context.Context, st *store.Store, c *store.Checkpoint) func() error {
	var b bytes.Buffer
	_, err := c.WriteTo(&b)
	check(err)
	return func() error { return st.ReadCheckpoint(ctx, bytes.NewReader(b.Bytes()), new(store.Checkpoint)) }
}

func (s full[T]) register(st *store.Store, stable bool) emplacer[T] {
	o := store.TableOptions[T]{Shards: shards}
	if stable {
		return store.RegisterStable(st, o)
	}
	return store.Register(st, o)
}

type handCopy[T item] struct {
	items, items2 []T
	slots, slots2 []uint64
	rows, rows2   []uint32
}

func newHandCopy[T item](n int) *handCopy[T] {
	h := &handCopy[T]{
		values[T](n), make([]T, n), make([]uint64, n), make([]uint64, n), make([]uint32, n), make([]uint32, n),
	}
	for i := range n { // untouched pages of zeros would share one page
		h.slots[i], h.rows[i] = uint64(i), uint32(i)
	}
	return h
}

func (h *handCopy[T]) copy() {
	copy(h.items2, h.items)
	copy(h.slots2, h.slots)
	copy(h.rows2, h.rows)
}
