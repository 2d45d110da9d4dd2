//go:build race || handloom_check

package slotmap_test

import "flag"

func init() { _ = flag.Set("rapid.checks", "30") } // a flag of the command line comes later

// stretches is how many times the length that rapid gives it a history has. The
// race detector and checked builds make them slow; the former has nothing to find
// on one goroutine.
const stretches = 1
