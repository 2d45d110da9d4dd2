package store_test

import (
	"slices"
	"testing"

	"handloom/store"
)

// orderOf returns the order in which the tasks of a pass begin; s has one worker.
func orderOf(t *testing.T, s *store.Store, n int) []int {
	t.Helper()
	var order []int
	noError(t, s.Each(t.Context(), n, func(task int, _ store.Queue) {
		order = append(order, task)
	}))
	return order
}

func TestShuffle_OrderFollowsTheSeed(t *testing.T) {
	var orders [][]int
	for _, seed := range []uint64{1, 1, 2} {
		s := newStore(t, store.Options{Workers: 1})
		noError(t, s.Shuffle(seed))
		first, second := orderOf(t, s, 40), orderOf(t, s, 40)
		if slices.IsSorted(first) || slices.Equal(first, second) {
			t.Errorf("seed %d: the orders are %v and %v", seed, first, second)
		}
		orders = append(orders, slices.Concat(first, second))
		if slices.Sort(first); !slices.Equal(first, orderOf(t, newStore(t, store.Options{Workers: 1}), 40)) {
			t.Errorf("seed %d: the tasks that ran are %v", seed, first)
		}
	}
	if !slices.Equal(orders[0], orders[1]) || slices.Equal(orders[0], orders[2]) {
		t.Errorf("the orders of seeds 1, 1 and 2 are %v", orders)
	}
}
