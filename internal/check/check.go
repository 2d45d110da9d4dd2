// Package check says how much a build checks of itself.
//
// Both figures are constants, so that what they guard is compiled out of a
// normal build and costs nothing there, not even inlining.
package check

import "fmt"

// Cheap is set under the tag handloom_check and under the race detector. It
// guards checks that cost a few instructions per call: who uses a queue, and in
// which phase.
const Cheap = Full || race

// Full is set under the tag handloom_check. It guards checks that cost as much
// as the work they check, or more.
const Full = full

// Given panics unless ok: an argument of a call is nil, which no build lets through. It
// costs a branch, and is for the beginning of calls that work on many items.
func Given(ok bool, call, argument string) {
	if !ok {
		notGiven(call, argument)
	}
}

func notGiven(call, argument string) {
	panic(fmt.Sprintf("%s with a nil %s; give one", call, argument))
}
