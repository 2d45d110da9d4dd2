package store_test

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"handloom/store"
)

// One late Set pads all creates before it.
func TestSet_PaddingCountsTowardsQueueLimit(t *testing.T) {
	const n = 1000
	run := func(limit int64, early bool) error {
		s, table := newTable(t, store.Options{QueueBytes: limit}, store.TableOptions[item]{})
		c := addColumn(t, table, store.ColumnOptions[[32]byte]{Name: "a"})
		return s.Do(t.Context(), func(q store.Queue) {
			var names []store.Handle[item]
			for range n {
				names = append(names, table.Emplace(q, item{}))
			}
			at := n - 1
			if early {
				at = 0
			}
			c.Set(q, names[at], [32]byte{1})
		})
	}
	const creates = n * int64(unsafe.Sizeof(item{}))
	wantError(t, "an early Set does not fit", run(creates+32, true), nil)
	wantError(t, "a late Set does not fit", run(creates+32*n, false), nil)
	wantError(t, "the padding is not counted", run(creates+32*n-1, false), store.ErrQueueFull)
}

func TestSet_FirstStaleSetsAreReported(t *testing.T) {
	s, table := newTable(t, store.Options{Workers: 1}, store.TableOptions[item]{})
	late, early := addColumn(t, table, store.ColumnOptions[int]{Name: "z"}), addColumn(t, table, store.ColumnOptions[int]{Name: "a"})
	q := queues(t, s, 1)[0]
	for range 10 {
		late.Set(q, store.Handle[item]{}, 1)
	}
	early.Set(q, store.Handle[item]{}, 1)
	early.Set(q, store.Handle[item]{}, 2)
	var names []string
	for _, sample := range flush(t, s).Stale {
		names = append(names, fmt.Sprint(sample.Column, sample.Sequence))
	}
	equal(t, "names", strings.Join(names, " "), "a0 a1 z0 z1 z2 z3 z4 z5")
	q = queues(t, s, 1)[0]
	for n := range 40 { // of tables that do not exist; the last recorded has the lowest typeId
		q.Erase(compose(uint16(9000-n), 1, 0))
	}
	var tables []uint16
	for _, sample := range flush(t, s).Stale {
		tables = append(tables, sample.TypeID)
	}
	equalLists(t, "tables of stale erases", tables, 8961, 8962, 8963, 8964, 8965, 8966, 8967, 8968)
}
