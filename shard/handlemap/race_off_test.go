//go:build !race && !handloom_check

package handlemap_test

const raceEnabled = false
