package batch_test

import (
	"testing"

	"handloom/batch"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Creates are recorded one by one and in bulk, so that both cross from one
// segment to the next, at and beside the boundary.
func TestCreatesKeepTheirOrderAcrossSegments(t *testing.T) {
	for _, first := range []int{0, 1, segmentItems - 1, segmentItems, segmentItems + 1} {
		for _, bulk := range []int{1, segmentItems - 1, segmentItems, 2*segmentItems + 1} {
			b := newBench(1<<20, 1)
			q := b.Begin(1).Queue(0)
			var names []name
			for i := range first {
				names = append(names, b.Emplace(q, value{N: uint64(i)}))
			}
			items := make([]value, bulk)
			for i := range items {
				items[i].N = uint64(first + i)
			}
			names = b.EmplaceItems(q, items, names)
			names = append(names, b.Emplace(q, value{N: uint64(first + bulk)}))

			for i, p := range names {
				if v, ok := b.Staged(q, p); !ok || v.N != uint64(i) {
					t.Fatalf("create %d is staged as %v, %t", i, v, ok)
				}
			}
			c := b.commands()
			b.plan(c)
			n := first + bulk + 1
			expectRange(t, survivors(c, 0, n), 0, n)
			for i, p := range names {
				if h, ok := c.Resolve(p.ID); !ok || h != real(i).ID {
					t.Fatalf("create %d resolves to %v, %t", i, h, ok)
				}
			}
		}
	}
}

// The array of a segment grows by doubling to exactly as many creates as offsets
// can tell apart, whatever it began with, which depends on their size.
func TestSegmentsOfItemsOfAnySizeEndWhereOffsetsDo(t *testing.T) {
	crossSegments[struct{}](t)
	crossSegments[[1]uint64](t)
	crossSegments[[3]uint64](t)
	crossSegments[[9]uint64](t)
	crossSegments[[100]uint16](t)
	crossSegments[[2000]byte](t)
}

func crossSegments[T any](t *testing.T) {
	b := batch.New(batch.Limits{})
	var r recorder[T]
	r.Init(b, 7, 1, items.For[T]())
	p := b.Begin(2)
	seen := map[handle.Of[T]]bool{}
	for i := range segmentItems + 100 {
		var v T
		h := r.Emplace(p.Queue(0), v)
		if seen[h] {
			t.Fatalf("%T: create %d is named %v, as another one", v, i, h)
		}
		seen[h] = true
		if i == 50 { // the other queue takes the segment that follows
			seen[r.Emplace(p.Queue(1), v)] = true
		}
	}
	for _, h := range r.EmplaceItems(p.Queue(1), make([]T, segmentItems), nil) {
		if seen[h] {
			t.Fatalf("%v is given twice in bulk", h)
		}
		seen[h] = true
	}
}

func TestRunsGiveEveryRangeOfTheSurvivors(t *testing.T) {
	b := newBench(1<<20, 1)
	pass := b.Begin(5)
	kept, n := 0, 0
	for _, task := range []int{3, 0, 4, 2, 1} { // recorded in another order than theirs
		for i := range 7 {
			p := b.Emplace(pass.Queue(task), value{})
			if task == 2 || (task+i)%3 == 0 { // all of one queue, and some of the others
				b.Erase(pass.Queue(4), p)
				n += 2
			} else {
				kept++
			}
		}
	}
	at := 0
	for task := range 5 { // numbered in the order of keys
		for i := range 7 {
			if task == 2 || (task+i)%3 == 0 {
				continue
			}
			b.stagedAt(t, pass.Queue(task), i).N = uint64(at)
			at++
		}
	}
	c := b.commands()
	if counts := b.plan(c); counts.CancelledOut != n || counts.Created != kept {
		t.Fatalf("%+v, want %d cancelled out and %d created", counts, n, kept)
	}
	for lo := range kept + 1 {
		for hi := lo; hi <= kept; hi++ {
			expectRange(t, survivors(c, lo, hi), lo, hi-lo)
		}
	}
}

// stagedAt returns the create of a queue at an offset of its only segment.
func (b *bench) stagedAt(t *testing.T, q queue, offset int) *value {
	t.Helper()
	for segment := range 5 {
		if v, ok := b.Staged(q, nameOf(1+segment, offset)); ok {
			return v
		}
	}
	t.Fatalf("%v holds no create at offset %d", q, offset)
	return nil
}
