//go:build race

package slotmap_test

// stretches is how many times the length that rapid gives it a history has. The
// race detector makes them slow and has nothing to find on one goroutine.
const stretches = 1
