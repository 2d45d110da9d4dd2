//go:build !race

package handlemap_test

const raceEnabled = false
