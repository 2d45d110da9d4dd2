package runner

import (
	"runtime"
	"time"
)

func goroutines() int { return runtime.NumGoroutine() }

const leakPatience = 2 * time.Second

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
