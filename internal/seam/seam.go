// Package seam is where tests reach into the library: variables that are nil or
// zero in every program. What has a seam reads it where something begins, a map
// its first slot, a step its tasks, a worker its claim, and never where items are
// touched.
//
// Tests set them while nothing of the library runs, and put them back. There is no
// other way to change what the library does: a file called export_test.go lets the
// tests of its package see more, and the checks of a build with the tag
// handloom_check are for users, too.
package seam

// Widths, where they are not zero, are the widths of handle fields from the next
// map on that makes its first slot: with a last generation of 7 and 16 slots,
// wrapping, depletion and exhaustion happen within a thousand operations instead of
// billions. The last generation is at most that of a program, and so is the
// number of slots.
var Widths struct {
	LastGeneration uint16
	Slots          uint32
}

// Narrow sets Widths and returns what puts them back.
func Narrow(lastGeneration uint16, slots uint32) (undo func()) {
	before := Widths
	Widths.LastGeneration, Widths.Slots = lastGeneration, slots
	return func() { Widths = before }
}

// Step is called once per parallel step of a pass or flush with the number of its
// tasks; the function it returns says which task runs in place of which, and is
// called by the worker that claimed the task, just before it runs. If that is nil
// the step is left alone.
var Step func(tasks int) func(task int) int

// Worker is called by the workers of package tasks at the points where a delay
// could do the most harm.
var Worker func(at Point, worker int)

// Point is where a worker is.
type Point int

// The points of [Worker].
const (
	BeforeClaim Point = iota // the phase word is read and the claim not made
	BeforePark               // the worker has said that it parks and not looked again
	BeforeEnd                // all tasks are settled and the phase is still there
)
