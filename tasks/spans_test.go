package tasks

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever workers pick, and in whatever order, each task is picked once, and
// those of the own part come first, in order.
func TestSpans_PickOwnTasksFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		workers := 1 + random.IntN(80)
		p := &phase{work: work{n: 1 + random.IntN(300)}}
		p.divide(workers)
		p.divide(workers) // memory that was used before
		var picked []int
		of := make(map[int][]int)
		for range p.n {
			w := random.IntN(workers)
			task := p.pick(w)
			picked = append(picked, task)
			of[w] = append(of[w], task)
		}
		slices.Sort(picked)
		for i, task := range picked {
			if i != task {
				t.Fatalf("%d tasks, %d workers: %v are picked", p.n, workers, picked)
			}
		}
		parts := min(workers, p.n, maxSpans)
		for w, tasks := range of {
			if w >= parts {
				continue // it has no part
			}
			lo, hi := w*p.n/parts, (w+1)*p.n/parts
			own := slices.IndexFunc(tasks, func(task int) bool { return task < lo || task >= hi })
			if own < 0 {
				own = len(tasks)
			}
			if !slices.IsSorted(tasks[:own]) || slices.ContainsFunc(tasks[own:], func(task int) bool { return task >= lo && task < hi }) {
				t.Fatalf("worker %d with the tasks %d to %d picked %v", w, lo, hi, tasks)
			}
		}
	}
}
