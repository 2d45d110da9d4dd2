// Command stress proves that the state of a store depends on what was recorded
// and on nothing else, and that every answer of a store is the one the documents
// promise. It does so in two ways: by traces of real programs, and by random
// programs that use everything there is.
//
//	go run ./stress                         the embedded trace, then random programs
//	go run ./stress -profile NAME           random programs: smoke, pr, nightly, long
//	go run ./stress -program FILE           one random program
//	go run ./stress -canary all             faults put in on purpose
//	go run ./stress replay TRACE            another trace
//	go run ./stress -durable DIR -kills N   a program on a journal, killed N times
//	go run ./stress inspect FILE|DIR        what is in a snapshot or a journal
//
// # Random programs
//
//	campaign   draws programs, has them played and compared, shrinks what fails
//	draw       makes a program of a seed
//	program    its text: one operation a line
//	child      plays a program in a process of its own
//	play       runs it on a store under one configuration, beside both models
//	model      predicts the answers, in two ways
//	shrink     makes a failing program smaller
//
// What is drawn differs from program to program, so that the rare becomes common
// in some of them: half of the operations are left out, handles are narrow, one
// table gets everything. States that must come up are counted; a run in which one
// did not is no proof. Faults put in on purpose (package faults), into a build with
// a copy of some files, prove that the harness finds what it is there to find.
//
// What follows is about traces.
//
// # Terms
//
//   - trace: what happened to the objects of a real program; see package trace.
//   - tick: the events between two T lines. It is one batch and one flush.
//   - player: one store, its number of workers, and the handles of its items.
//   - model: plain Go maps from key to item.
//
// # One tick
//
//	trace ──> reader ──> checker ──> deal by key ──┬─> player, 1 worker  ──┐
//	                         │                     ├─> player, 2 workers ──┼─> compare
//	                         │                     └─> player, 8 workers ──┘      │
//	                         └──────> model ───────────────────────────────────> check
//
// The reader and the checker see a whole tick before anything of it is played,
// so that a malformed trace leaves no tick half done. A player's tick is
//
//	age      ForEach over every table counts one up in every item, in place
//	record   Each with 16 tasks: creates are Emplace, updates Put, erases Erase
//	flush    Flush, after which provisional handles are resolved
//	sum      Reduce over every table
//
// The model does the same to its maps, on one goroutine. Each task has a map from key to
// handle, the time of which counts as the time of the player.
//
// The number of tasks is fixed and a key belongs to the task it hashes to, so
// the batch is the same for any number of workers, and the events of one key
// keep their order. A key that is created and erased within the tick is erased
// by its provisional handle. An update of an item of the same tick is a put to
// that handle if the key is even, and completes the staged value if it is odd.
// Every second tick is one Write that all of this joins; in the others every
// phase goes through the gate. The workers of a player are one team for the
// whole replay.
//
// # What a run proves
//
// After every tick:
//
//	R1  the digests of all players are equal, and so are the reports of the flush
//	R2  the report counts for every table what its events must come to: created,
//	    erased, put, superseded, dropped, cancelled out; nothing is stale
//	R3  the length, the figures and the sums of every table are the model's
//	R4  every key that the tick touched finds the item it must, or nothing
//	R5  every handle that the tick ended finds nothing, and no cancelled create
//	    resolves
//
// Every 16 ticks and at the end:
//
//	R6  Verify finds every invariant kept
//	R7  the items of every table are those of the model, both ways, each under
//	    the handle that its player holds
//
// The model shares no code with the store. What a run cannot prove: that an order
// of workers which did not occur gives the same state. Many ticks on more workers
// than processors make such an order likely to occur.
//
// # Memory
//
// The players run in lock step and the trace is streamed: memory grows with the
// live items, times the number of players and once for the model, and with the
// longest tick, not with the trace.
package main
