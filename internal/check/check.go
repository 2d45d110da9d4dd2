// Package check says how much a build checks of itself.
//
// Both figures are constants, so that what they guard is compiled out of a
// normal build and costs nothing there, not even inlining.
package check

// Cheap is set under the tag handloom_check and under the race detector. It
// guards checks that cost a few instructions per call: who uses a queue, and in
// which phase.
const Cheap = Full || race

// Full is set under the tag handloom_check. It guards checks that cost as much
// as the work they check, or more.
const Full = full
