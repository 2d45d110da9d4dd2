package store_test

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/store"
)

const callers = 1000

// arrival is a call of the inbox as its flush saw it.
type arrival struct {
	caller       int
	begun, ended int64 // by a clock that all calls share
}

// letter is what caller i sends: creates that name each other, and commands to
// an item that all callers know.
func letter(table *store.Table[item], q store.Queue, i int, common store.Handle[item]) {
	n := 2 + i%7
	var last store.Handle[item]
	for k := range n {
		last = table.Emplace(q, item{Value: uint64(i)<<8 | uint64(k), Parent: last})
	}
	table.Put(q, common, item{Value: uint64(i), Parent: last})
	if i%5 == 0 {
		table.Erase(q, table.Emplace(q, item{Value: 1 << 40}))
		q.Erase(last.ID)
	}
}

// received reads from what a flush created which calls it took, in order, and
// fails the test unless each is there whole.
func received(t *testing.T, table *store.Table[item]) (order []int) {
	t.Helper()
	values := created(packedTable{table})
	for len(values) > 0 {
		if values[0]>>32 != 0 { // recorded by a pass
			values = values[1:]
			continue
		}
		i := int(values[0] >> 8)
		n := 2 + i%7
		if i%5 == 0 {
			n--
		}
		for k := range n {
			if len(values) <= k || values[k] != uint64(i)<<8|uint64(k) {
				t.Fatalf("of the call of caller %d, %d creates are together: %x", i, k, values[:min(n, len(values))])
			}
		}
		order, values = append(order, i), values[n:]
	}
	return order
}

// A thousand goroutines send while passes and flushes run. Each call is applied
// by one flush, once and whole, and what ended before another began comes before
// it. Recorded again in the order of arrival, the same comes out.
func TestAThousandGoroutinesSendWhilePassesAndFlushesRun(t *testing.T) {
	s, table := newInbox(t, store.Options{Workers: 3})
	common := fill(t, s, table, 1)[0]
	var clock atomic.Int64
	times := make([]arrival, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			times[i] = arrival{caller: i, begun: clock.Add(1)}
			send(elsewhere{t}, s, func(q store.Queue) { letter(table, q, i, common) })
			times[i].ended = clock.Add(1)
		})
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()

	var flushes [][]int // the callers that each flush applied, in order
	var digests []uint64
	frame := func(number int) {
		recordBeside(t, s, table, number)
		flush(t, s)
		flushes = append(flushes, received(t, table))
		digests = append(digests, digest(t, s))
	}
	for done := false; !done; {
		select {
		case <-all:
			done = true
		default:
		}
		frame(len(flushes))
	}

	var order []int
	for _, calls := range flushes {
		order = append(order, calls...)
	}
	sorted := slices.Sorted(slices.Values(order))
	for i, caller := range sorted {
		if caller != i || len(sorted) != callers {
			t.Fatalf("%d calls were applied: %v", len(sorted), sorted)
		}
	}
	checkOrder(t, order, times)
	replay(t, flushes, digests)
}

// elsewhere reports failures of goroutines other than the test's own.
type elsewhere struct{ *testing.T }

func (f elsewhere) Fatal(args ...any) { f.Error(args...) }

// recordBeside records what the frame loop records beside the inbox.
func recordBeside(t *testing.T, s *store.Store, table *store.Table[item], number int) {
	t.Helper()
	err := s.Each(t.Context(), 3, func(_ context.Context, task int, q store.Queue) error {
		table.Emplace(q, item{Value: 1<<32 + uint64(number*3+task)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// checkOrder sees that no call comes before one that had ended when it began.
func checkOrder(t *testing.T, order []int, times []arrival) {
	t.Helper()
	latest := int64(0) // of the beginnings so far
	for _, caller := range order {
		a := times[caller]
		if latest > a.ended {
			t.Fatalf("caller %d ended at %d and comes after one that began at %d", caller, a.ended, latest)
		}
		latest = max(latest, a.begun)
	}
}

// replay sends the same calls one after another.
func replay(t *testing.T, flushes [][]int, digests []uint64) {
	t.Helper()
	for _, workers := range []int{1, 2, 7} {
		s, table := newInbox(t, store.Options{Workers: workers})
		common := fill(t, s, table, 1)[0]
		for number, calls := range flushes {
			for _, caller := range calls {
				send(t, s, func(q store.Queue) { letter(table, q, caller, common) })
			}
			recordBeside(t, s, table, number)
			flush(t, s)
			if got := digest(t, s); got != digests[number] {
				t.Fatalf("%d workers, flush %d: digest %x, want %x", workers, number, got, digests[number])
			}
		}
	}
}
