// Package check selects the checks of a build. Cheap and Full are constants, so that the code
// they guard is compiled out of a normal build at no cost, not even for inlining.
package check

import "fmt"

// Cheap is set under the tag handloom_check and under the race detector. It guards checks
// of a few instructions per call: the user and the phase of a queue.
const Cheap = Full || race

// Full is set under the tag handloom_check. It guards checks that cost as much as the
// checked work, or more.
const Full = full

// Given panics unless ok: an argument is nil. It costs a branch and is for calls that work
// on many items.
func Given(ok bool, call, argument string) {
	if !ok {
		notGiven(call, argument)
	}
}

func notGiven(call, argument string) {
	panic(fmt.Sprintf("%s with a nil %s; give one", call, argument))
}
