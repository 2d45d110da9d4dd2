// Command kills runs a world on a journal in a child process, kills it
// repeatedly, and checks that no acknowledged call is lost.
//
//	parent                                  child
//	starts it ─────────────────────────────> opens the journal, and a world on it
//	          <─ replay TICK DIGEST ─────── for each tick since the last snapshot
//	          <─ open TICK DIGEST ───────── position after the replay
//	          <─ tick TICK DIGEST ───────── for each tick of its own
//	          <─ ack KEY ────────────────── for each Submit that has returned
//	SIGKILL after a random line and a short delay
//
// Data in a pipe survives the process, so the parent reads exactly what the
// child has reported. It checks:
//
//   - K1: a child opens at or after the last reported tick.
//   - K2: a tick has one digest, for any child, replay and number of workers.
//   - K3: at the end, each acknowledged key is in the state, once.
//   - K4: a replay by the parent, with another number of workers, ends in that
//     state.
//   - K5: the journal is not damaged.
//
// A kill loses the memory of the process, not of the system. The tests of
// package journal cover power failures.
package main
