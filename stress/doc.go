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
// # Programs
//
//	draw       makes the program of a seed
//	script     the text of a program: one operation per line
//	runner     runs a program under several configurations, and both models;
//	           shrinks a program that fails
//	model      predicts the answers, in two ways
//
// One process plays one program at a time. A crash of the process, and a race in
// a build with -race, end the run; the last line of its progress has the seed.
//
// Each random program omits half of the operations and has its own sizes and
// handle widths, so rare states become common in some programs. A campaign counts
// the rare states that it must reach. Seeded faults (package mutants) prove that
// the harness finds faults.
//
// # Traces
//
// A trace (package trace) has the events of the objects of a real program. It
// becomes a program: the events between two T lines are one tick.
//
//	foreach  adds one to every item, in place
//	each     16 tasks record: a create is emplace, an update put, an erase erase
//	flush    applies them
//	reduce   sums over every table
//
// Each key belongs to one task by hash, so its events keep their order. A key
// created and erased in one tick is erased by its provisional handle. An update of
// an item of the same tick is a put if the key is even, and completes the staged
// value if it is odd. Every second tick is one Frame; in the other ticks every
// phase passes the gate.
//
// A run does not prove equal states for orders of workers that did not occur. Many
// ticks, and more workers than processors, make rare orders likely. The whole
// trace is in memory, about 300 bytes an event, and the models keep every handle.
package main
