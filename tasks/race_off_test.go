//go:build !race

package tasks

const raceDetector = false
