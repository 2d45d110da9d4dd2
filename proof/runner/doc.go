// Package runner runs a program on a store, under one configuration, and holds
// every answer of the store to both models.
//
//	program ──> step ──┬─> store, under a configuration ──> answer ──┐
//	                   └─> models ────────────────────────> answer ──┴─> compare
//
// What a task records is noted by the task, in its own list, and given to the
// models when the pass is over, task by task; so they see the order of keys,
// whatever the order in which workers ran.
//
// # Checks
//
//	every step     its own answer: handles, errors, counts, sums
//	every flush    the report, what every create resolves to, all items of every
//	               table in the order of rows, the figures, Verify
//	               and some handles of the history, as they were and forged, of
//	               histories that a rollback ended, and provisional ones
//	every read     the digest is what it was (P1)
//	at the end     every handle that was ever issued or recorded; Close;
//	               goroutines
//
// After every step that changes the store its digest and report are appended to
// the marks of the result, so that runs under other configurations can be
// compared with this one (D1).
//
// # Who may call
//
// One program is played at a time in a process: what [seam] holds are variables of
// the process, and so is GOMAXPROCS.
//
// [seam]: handloom/internal/seam
package runner
