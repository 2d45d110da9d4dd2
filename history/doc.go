// Package history is a debugger over the log of a world. It runs the ticks of a log again, in a
// program that has the tables and the Tick of the world, and returns to the state after each of
// them. [Main] has commands for it; see guide/find-out-why.md.
//
// # Terms
//
//   - tick, record, snapshot, version: as in package world.
//   - state: the state after a tick. Tick 0 is the state of Options.Init.
//   - range: ticks in a row that can be played, all of one version.
//   - check: a function that fails for a state that is wrong.
//
// # Seeks
//
// A History has a cursor, which is a store, and checkpoints of it: some at equal distances, and a
// ladder of them just before the cursor, so that a step back is short too.
//
//	snapshot                                              cursor
//	   │      ○         ○         ○         ○     ○  ○ ○ ○  ▼
//	───┴──────────────────────────────────────────────────────── ticks
//
// A seek starts from the nearest checkpoint or snapshot before its tick, and plays the ticks in
// between. The distance is the least for which the checkpoints fit into Options.Memory, and doubles
// when they grow.
//
// # Causes
//
// [History.Why] runs a tick with one worker and compares one item at each boundary of the tick. A
// change is by the command that a flush applied, or by a write between two boundaries:
//
//	tick opens   pass 0      pass 1      flush 0         tick ends
//	    ├──code──┼─task─task─┼─task─task─┼──commands──┼──code──┤
//
// A second run of the tick finds the line of the program. Nothing is inferred.
//
// [History.Shortest] finds the calls and commands that a failed check needs, by plays of one tick
// without some of them. Number, Seed and Time of the tick stay. [Play] plays them in a test.
//
// # Two builds
//
// Each of two builds writes the digests of its states to a file, and the files are compared. Both
// begin with the same snapshot, and neither uses a later one:
//
//	log ──▶ old digests ──▶ A ─┐
//	  └───▶ new digests ──▶ B ─┴─▶ diff ──▶ tick, table, shard ──▶ show, why
//
// # Limits
//
// The program must be pure, as package world demands: Open plays three ticks four times and
// compares the states. A tick that failed in production fails here, so the state
// before it is the last one. Opening reads every record once; records of later ticks are not seen.
package history
