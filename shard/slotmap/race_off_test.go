//go:build !race && !handloom_check

package slotmap_test

// stretches is how many times the length that rapid gives it a history has.
const stretches = 3
