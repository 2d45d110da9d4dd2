package tasks

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSpans_PickOwnTasksFirst(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		workers := 1 + random.IntN(80)
		p := &phase{work: work{n: 1 + random.IntN(300)}}
		p.divide(workers)
		p.divide(workers) // reuses memory
		var picked []int
		byWorker := make(map[int][]int)
		for range p.n {
			w := random.IntN(workers)
			task := p.pick(w)
			picked = append(picked, task)
			byWorker[w] = append(byWorker[w], task)
		}
		slices.Sort(picked)
		for i, task := range picked {
			if i != task {
				t.Fatalf("%d tasks, %d workers: %v are picked", p.n, workers, picked)
			}
		}
		spans := min(workers, p.n, maxSpans)
		for w, tasks := range byWorker {
			if w >= spans {
				continue
			}
			lo, hi := w*p.n/spans, (w+1)*p.n/spans
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
