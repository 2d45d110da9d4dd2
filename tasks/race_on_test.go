//go:build race

package tasks

const raceDetector = true
