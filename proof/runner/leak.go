package runner

import (
	"runtime"
	"time"
)

func goroutines() int { return runtime.NumGoroutine() }

// leakPatience is how long goroutines that have done their work may take to end.
const leakPatience = 2 * time.Second

// checkGoroutines fails if there are more goroutines than there were.
func (p *executor) checkGoroutines(before int) {
	deadline := time.Now().Add(leakPatience)
	for wait := time.Microsecond; goroutines() > before; wait *= 2 {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			p.fail(Leak, "%d goroutines are left of %d before\n%s", goroutines(), before, stacks[:runtime.Stack(stacks, true)])
			return
		}
		runtime.Gosched()
		time.Sleep(wait)
	}
}
