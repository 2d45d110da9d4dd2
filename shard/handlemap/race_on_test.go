//go:build race

package handlemap_test

// raceEnabled says that everything is slow.
const raceEnabled = true
