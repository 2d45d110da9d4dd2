package trace_test

import (
	"fmt"
	"os"

	"handloom/internal/trace"
)

// A program records itself by a line for each event: where an object appears, where
// it changes, where it disappears, and at the end of a tick. The key may be whatever
// tells objects of one table apart, such as a number of the program's own. What is
// recorded so is replayed, checked and measured by
//
//	go run ./stress replay particles.trace
func ExampleWriter() {
	const particles = 0 // a table
	w := trace.NewWriter(os.Stdout)
	w.Name(particles, "particle")

	left := map[uint64]int{} // ticks that a particle has left to live
	for tick := range uint64(3) {
		left[tick] = 2
		w.Create(particles, tick)
		for key := range tick + 1 {
			switch left[key]--; {
			case left[key] < 0: // it is gone already
			case left[key] == 0:
				w.Erase(particles, key)
			default:
				w.Update(particles, key)
			}
		}
		w.Tick()
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// handloom-trace 1
	// # table 0: particle
	// C 0 0
	// U 0 0
	// T
	// C 0 1
	// E 0 0
	// U 0 1
	// T
	// C 0 2
	// E 0 1
	// U 0 2
	// T
}
