package check

import (
	"sync"
	"testing"
)

func TestGoroutine_NumbersDiffer(t *testing.T) {
	mine := Goroutine()
	if mine == 0 || Goroutine() != mine {
		t.Errorf("this goroutine is %d, then %d", mine, Goroutine())
	}
	const n = 20
	var numbers [n]uint64
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { numbers[i] = Goroutine() })
	}
	all.Wait()
	seen := map[uint64]bool{0: true, mine: true}
	for _, number := range numbers {
		if seen[number] {
			t.Errorf("the number %d is 0 or given twice in %v", number, numbers)
		}
		seen[number] = true
	}
}
