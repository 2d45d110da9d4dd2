// Package seam lets tests change the library: its variables are nil or zero in every
// program. The library reads them where something begins, never per item. Tests set them
// while nothing of the library runs, and restore them.
package seam

// Widths, unless zero, are the widths of handle fields of maps that make their first slot
// from now on. Small ones make wrapping, depletion and exhaustion happen within a thousand
// operations. Neither may exceed the normal limit.
var Widths struct {
	LastGeneration uint16
	Slots          uint32
}

// Narrow sets Widths and returns a function that restores them.
func Narrow(lastGeneration uint16, slots uint32) (undo func()) {
	before := Widths
	Widths.LastGeneration, Widths.Slots = lastGeneration, slots
	return func() { Widths = before }
}

// Step is called once per parallel step of a pass or flush with its number of tasks. It
// returns a function that maps a task to the task that runs in its place, or nil. The
// worker that took the task calls that function just before it.
var Step func(tasks int) func(task int) int

// Worker is called by the workers of package tasks at points where a delay could do harm.
var Worker func(at Point, worker int)

type Point int

// The points of [Worker].
const (
	BeforeTake Point = iota // the phase word is read; the swap follows
	BeforePark              // the parked flag is set; the last look follows
	BeforeEnd               // all tasks are finished; the end of the phase follows
)
