package tasks

import "testing"

// A task of exactly an eighth of the work of a worker is even, a heavier one is not.
func TestEven_TheBoundIsAnEighth(t *testing.T) {
	for _, c := range []struct {
		weights []int64
		workers int
		want    bool
	}{
		{[]int64{1, 1, 1, 1, 1, 1, 1, 1}, 1, true},
		{[]int64{1, 1, 1, 1, 1, 1, 1}, 1, false},
		{[]int64{1, 1, 1, 1, 1, 1, 1, 1}, 2, false},
		{[]int64{2, 2, 2, 2, 2, 2, 2, 1}, 1, false},
	} {
		if got := even(c.weights, c.workers); got != c.want {
			t.Errorf("%v, workers=%d: got %t; want %t", c.weights, c.workers, got, c.want)
		}
	}
}
