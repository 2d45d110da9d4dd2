package store_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"handloom/store"
)

const callers = 1000

// arrival is a call of the inbox in the order of its flush.
type arrival struct {
	begun, ended int64 // by a shared clock
}

// received returns the calls that a flush took, in order, and fails the test if one is not
// whole.
func received(t *testing.T, table *store.Table[item]) (order []int) {
	t.Helper()
	values := created(packedTable{table})
	for len(values) > 0 {
		if values[0] == passValue {
			values = values[1:]
			continue
		}
		i := int(values[0] >> 8)
		n := 2 + i%7
		for k := range n {
			if len(values) <= k || values[k] != uint64(i)<<8|uint64(k) {
				t.Fatalf("of the call of caller %d, %d creates are together: %x", i, k, values[:min(n, len(values))])
			}
		}
		order, values = append(order, i), values[n:]
	}
	return order
}

// passValue is the value of items that passes create.
const passValue = 1 << 32

// A thousand goroutines send calls while passes and flushes run. One flush applies each call,
// once and whole. A call comes after calls that ended before it began.
func TestInbox_ThousandGoroutinesSendInOrder(t *testing.T) {
	s, table := newInbox(t, store.Options{Workers: 3})
	var clock atomic.Int64
	times := make([]arrival, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			times[i].begun = clock.Add(1)
			send(elsewhere{t}, s, func(q store.Queue) {
				var last store.Handle[item]
				for k := range 2 + i%7 {
					last = table.Emplace(q, item{Value: uint64(i)<<8 | uint64(k), Parent: last})
				}
				table.Erase(q, table.Emplace(q, item{Parent: last}))
			})
			times[i].ended = clock.Add(1)
		})
	}
	all := make(chan struct{})
	go func() { wg.Wait(); close(all) }()

	var order []int
	for done := false; !done; {
		select {
		case <-all:
			done = true
		default:
		}
		noError(t, s.Each(t.Context(), 3, taskOf(func(q store.Queue) { table.Emplace(q, item{Value: passValue}) })))
		flush(t, s)
		order = append(order, received(t, table)...)
	}
	latest := int64(0) // latest beginning so far
	for _, caller := range order {
		a := times[caller]
		atMost(t, fmt.Sprintf("latest begin before the end of caller %d", caller), latest, a.ended)
		latest = max(latest, a.begun)
	}
	slices.Sort(order)
	equal(t, "callers", len(slices.Compact(order)), callers)
	equal(t, "calls", len(order), callers)
}

// elsewhere reports failures of goroutines other than the test's own.
type elsewhere struct{ *testing.T }

func (f elsewhere) Fatal(args ...any) { f.Error(args...) }
