// Package feed carries what a running stress has to say to whoever follows it:
// a file of JSON lines, the report at its end, the live page.
//
//	             ┌─> Lines      one JSON object per line
//	run ─> Feed ─┼─> Collector  kept for the report
//	             └─> page       server-sent events
//
// # Terms
//
//   - event: one thing said, with its kind, a version and the time since the
//     start. The kinds are start, progress, sample, failure and verdict.
//   - sample: the figures of one interval, of about a second.
//   - sink: what events are given to.
//
// A run begins with one start, whose command line repeats it, and ends with one
// verdict. Between them come samples, lines of progress and failures, in any
// order. Nothing that is said decides an outcome.
package feed
