package runner

import (
	"runtime"
	"time"
)

func goroutines() int { return runtime.NumGoroutine() }

// leakPatience is the time given to finished goroutines to end.
const leakPatience = 2 * time.Second

// checkGoroutines fails if the number of goroutines has grown.
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
