package runner

import (
	"bytes"
	"regexp"
	"runtime"
	"time"
)

// goroutines returns the number of goroutines of the process: one program runs at a time.
func goroutines() int { return runtime.NumGoroutine() }

// leakPatience is the time in which a goroutine that runs must end.
const leakPatience = time.Minute

// blocked matches the headers of goroutines that another goroutine, or the system, must wake.
var blocked = regexp.MustCompile(`(?m)^goroutine \d+ [^[]*\[(chan |select|sync\.|IO wait|syscall)`)

// checkGoroutines waits until at most before goroutines are left. It fails at once if all others
// are blocked: nobody can wake them.
func (p *executor) checkGoroutines(before int) {
	deadline := time.Now().Add(leakPatience)
	for wait := time.Microsecond; goroutines() > before; wait = min(2*wait, time.Millisecond) {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		forever := len(blocked.FindAll(stacks, -1)) == bytes.Count(stacks, []byte("\n\ngoroutine "))
		if left := goroutines(); left > before && (forever || time.Now().After(deadline)) {
			p.fail(Leak, "%d goroutines are left of %d before\n%s", left, before, stacks)
			return
		}
		time.Sleep(wait)
	}
}
