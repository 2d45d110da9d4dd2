package main_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"handloom/store"
)

// BenchmarkCheckpoint measures Checkpoint and Rollback on one worker beside what
// copying the same memory by hand takes, in three arrays: items, and 8 bytes of a
// slot and 4 of a row for each. The two take turns; "ratio" is that of their
// medians, "copy-ns/item" the median by hand.
//
// Copying is bound by memory, and Go's copy goes past the caches from a megabyte
// on, which saves a third of the traffic. A million items of 8 bytes in 8 shards
// are just below that, and pages of a stable table far: they take as long as
// pieces of the same size do by hand.
func BenchmarkCheckpoint(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		for _, stable := range []bool{false, true} {
			for _, shards := range []int{1, 8} {
				checkpoints[[1]uint64](b, n, 8, shards, stable)
				checkpoints[[8]uint64](b, n, 64, shards, stable)
			}
		}
	}
}

func checkpoints[T any](b *testing.B, n, size, shards int, stable bool) {
	impl := "table"
	if stable {
		impl = "stabletable"
	}
	name := fmt.Sprintf("/impl=%s/n=%d/size=%d/shards=%d", impl, n, size, shards)
	// Made once, and not for every b.N, so that the collector has nothing to do.
	s, emplace := newCheckpointed[T](b, shards, stable)
	qs, _ := s.Queues(1)
	emplace(qs[0], make([]T, n), nil)
	if _, err := s.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	var c store.Checkpoint
	if err := s.Checkpoint(b.Context(), &c); err != nil {
		b.Fatal(err)
	}
	hand := newHandCopy[T](n)
	b.Run("op=checkpoint"+name, func(b *testing.B) {
		beside(b, n, hand.copy, func() error { return s.Checkpoint(b.Context(), &c) })
	})
	b.Run("op=rollback"+name, func(b *testing.B) {
		beside(b, n, hand.copy, func() error { return s.Rollback(b.Context(), &c) })
	})
}

func newCheckpointed[T any](b *testing.B, shards int, stable bool) (*store.Store, func(store.Queue, []T, []store.Handle[T]) []store.Handle[T]) {
	s, err := store.New(store.Options{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	o := store.TableOptions[T]{Name: "items", Shards: shards}
	if stable {
		t, err := store.RegisterStable(s, o)
		if err != nil {
			b.Fatal(err)
		}
		return s, t.EmplaceItems
	}
	t, err := store.Register(s, o)
	if err != nil {
		b.Fatal(err)
	}
	return s, t.EmplaceItems
}

// beside lets f and the copying by hand take turns.
func beside(b *testing.B, n int, byHand func(), f func() error) {
	var ours, hands []time.Duration
	for b.Loop() {
		b.StopTimer()
		begin := time.Now()
		byHand()
		hands = append(hands, time.Since(begin))
		b.StartTimer()
		begin = time.Now()
		if err := f(); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(begin))
	}
	our, hand := median(ours), median(hands)
	b.ReportMetric(our/float64(n), "ns/item")
	b.ReportMetric(hand/float64(n), "copy-ns/item")
	b.ReportMetric(our/hand, "ratio")
}

func median(of []time.Duration) float64 {
	slices.Sort(of)
	return float64(of[len(of)/2])
}

// handCopy is the memory of n items and its copy.
type handCopy[T any] struct {
	items, items2 []T
	slots, slots2 []uint64
	rows, rows2   []uint32
}

func newHandCopy[T any](n int) *handCopy[T] {
	h := &handCopy[T]{
		make([]T, n), make([]T, n), make([]uint64, n), make([]uint64, n), make([]uint32, n), make([]uint32, n),
	}
	for i := range n { // pages of zeros that nobody wrote to would all be one
		clear(h.items[i : i+1])
		h.slots[i], h.rows[i] = uint64(i), uint32(i)
	}
	return h
}

func (h *handCopy[T]) copy() {
	copy(h.items2, h.items)
	copy(h.slots2, h.slots)
	copy(h.rows2, h.rows)
}
