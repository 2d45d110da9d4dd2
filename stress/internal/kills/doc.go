// Package kills runs a world on a journal in a process of its own, kills that again
// and again, and sees that nothing is lost that was acknowledged.
//
//	parent                                  child
//	starts it ─────────────────────────────> opens the journal, and a world on it
//	          <─ replay TICK DIGEST ─────── for each tick since the last snapshot
//	          <─ open TICK DIGEST ───────── where it goes on
//	          <─ tick TICK DIGEST ───────── for each tick of its own
//	          <─ ack KEY ────────────────── for each Submit that has returned
//	SIGKILL behind a line drawn from the seed, and a moment more
//
// What stands in a pipe survives the process, so that the parent knows all that the
// child said, and nothing that it only meant to say. What it holds the next child to:
//
//   - K1: the tick that a child opens is not before the last one that was told.
//   - K2: a tick has one digest, whoever plays or replays it, with any number of workers.
//   - K3: at the end, each key that was acknowledged is in the state, once.
//   - K4: a replay by the parent, with another number of workers, ends in that state.
//   - K5: the journal is not damaged.
//
// A kill takes what a process has in its memory, not what the system has in its: that
// a power failure loses nothing the tests of package journal see to.
package kills
