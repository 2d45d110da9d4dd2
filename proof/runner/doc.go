// Package runner runs a program on a store, under one configuration, and
// compares every answer of the store with both models.
//
//	program ──> step ──┬─> store, under a configuration ──> answer ──┐
//	                   └─> models ────────────────────────> answer ──┴─> compare
//
// Each task logs its commands in its own list. After the pass, the models
// receive the lists task by task: in key order, for any order of workers.
//
// # Checks
//
//	every step     the answer: handles, errors, counts, sums
//	every flush    the report, Resolve of every create, all items of every
//	               table in the order of rows, Stats, Verify; some handles of
//	               the history, valid and forged, some of abandoned
//	               histories, and provisional handles
//	every read     an unchanged digest (P1)
//	at the end     every handle ever issued or recorded; Close; goroutines
//
// After every step that changes the store, its digest and report are appended
// to the marks of the result, for comparison with other configurations (D1).
//
// # Reading order
//
//	executor.go                      Play: from the first step to the last
//	names.go                         handles of names, and forged handles
//	pass.go, passrun.go, command.go  a pass, its tasks and their commands
//	flush.go, write.go, inbox.go     flushes, Frames and calls
//	check.go, probe.go               comparisons after a change
//	bound.go, columns.go, items.go   tables, columns and items of any type
//	inject.go, misuse.go, faults.go  delays, wrong calls and planted faults
//	under.go                         several configurations
//
// # Concurrency
//
// A process runs one program at a time: [seam] and GOMAXPROCS belong to the
// process.
//
// [seam]: handloom/internal/seam
package runner
