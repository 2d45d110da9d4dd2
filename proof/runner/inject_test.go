package runner

import (
	"slices"
	"testing"

	"handloom/proof/script"
)

func runInjected(d *injector, n int) []int {
	instead := d.step(n)
	order := make([]int, n)
	for i := range order {
		if order[i] = i; instead != nil {
			order[i] = instead(i)
		}
	}
	return order
}

func TestInjector_ShufflesAllTasks(t *testing.T) {
	var d injector
	d.init(script.Config{Shuffle: 7})
	others := 0
	for n := range 60 {
		got := runInjected(&d, n)
		if !slices.IsSorted(got) {
			others++
		}
		slices.Sort(got)
		for i, task := range got {
			if task != i {
				t.Fatalf("of %d tasks there ran %v", n, got)
			}
		}
	}
	if others < 50 {
		t.Errorf("%d of 60 steps ran in another order", others)
	}
}

func TestInjector_CancelsInTheChosenStep(t *testing.T) {
	var d injector
	d.init(script.Config{})
	calls := 0
	d.cancelIn(2, func() { calls++ })
	for step, want := range []int{0, 1, 1} {
		if runInjected(&d, 4); calls != want {
			t.Errorf("after step %d there were %d calls; want %d", step+1, calls, want)
		}
	}
	if !d.cancelled() || d.cancelled() {
		t.Error("a cancel that came is not told once")
	}
}
