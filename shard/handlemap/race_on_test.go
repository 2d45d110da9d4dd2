//go:build race || handloom_check

package handlemap_test

// raceEnabled says that everything is slow.
const raceEnabled = true
