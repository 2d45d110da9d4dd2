// Command stress proves that the state of a store depends only on the recorded
// commands, and that every answer is the documented one. It replays traces of
// real programs and runs random programs that use every operation.
//
//	go run ./stress                         the embedded trace, then random programs
//	go run ./stress -profile NAME           random programs: smoke, pr, nightly, long
//	go run ./stress -program FILE           one random program
//	go run ./stress -canary all             seeded faults
//	go run ./stress replay TRACE            another trace
//	go run ./stress/kills -kills N DIR      a program on a journal, killed N times
//
// # Random programs
//
//	campaign   draws programs, plays and compares them, shrinks failures
//	draw       makes the program of a seed
//	script     the text of a program: one operation per line
//	child      a process that plays programs
//	runner     runs a program under one configuration, and both models
//	model      predicts the answers, in two ways
//	shrink     reduces a failing program
//
// Each program omits half of the operations and has its own sizes and handle
// widths, so rare states become common in some programs. A campaign counts the
// rare states that it must reach. Seeded faults (package mutants), in a build
// with patched copies of some files, prove that the harness finds faults.
//
// # Traces
//
//   - trace: events of the objects of a real program; see package trace.
//
//   - tick: the events between two T lines, in one batch and one flush.
//
//   - player: one store, its workers, and the handles of its items.
//
//   - model: Go maps from key to item.
//
//     trace ──> reader ──> checker ──> deal by key ──┬─> player, 1 worker  ──┐
//     │                     ├─> player, 2 workers ──┼─> compare
//     │                     └─> player, 8 workers ──┘      │
//     └──────> model ───────────────────────────────────> check
//
// A malformed trace leaves no partial tick. The tick of a player:
//
//	age      ForEach over every table counts one up in every item, in place
//	record   Each with 16 tasks: creates are Emplace, updates Put, erases Erase
//	flush    Flush, then provisional handles are resolved
//	sum      Reduce over every table
//
// The time of a player includes the maps from key to handle of its tasks.
//
// The number of tasks is fixed and each key belongs to one task by hash. So the
// batch is the same for any number of workers, and the events of a key keep their
// order. A key created and erased in one tick is erased by its provisional handle.
// An update of an item of the same tick is a Put if the key is even, and completes
// the staged value if it is odd. Every second tick is one Frame; in the other ticks
// every phase passes the gate.
//
// # Checks
//
// After every tick:
//
//	R1  the digests and flush reports of all players are equal
//	R2  the report has the model's counts for every table: created, erased,
//	    put, superseded, dropped, cancelled out; no command is stale
//	R3  the length, Stats and sums of every table are the model's
//	R4  every touched key finds its item, or no item if it is erased
//	R5  every ended handle is stale, and no cancelled create resolves
//
// Every 16 ticks and at the end:
//
//	R6  Verify succeeds
//	R7  the items of every table are the model's, in both directions, each
//	    under the handle of its player
//
// The model shares no code with the store. A run does not prove equal states
// for orders of workers that did not occur. Many ticks, and more workers than
// processors, make rare orders likely.
//
// # Memory
//
// The trace is streamed. Memory grows with the live items, once per player and
// once for the model, and with the longest tick.
package main
