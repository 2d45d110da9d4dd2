// Package tasks runs n independent tasks on several goroutines and returns
// when all of them have run.
// The guide's page is guide/container.md.
//
// [Run] runs one phase: a set of tasks with a beginning and an end. [WithTeam]
// keeps the goroutines ready between phases, because starting one on another
// core can take longer than a small phase does. What a Run returns depends on
// what its tasks return, and never on how many workers there were or which of
// them was first.
//
// # Terms
//
//   - A task is a call of the function with a number from 0 to n-1.
//   - A worker is a goroutine that runs tasks. Worker 0 is the caller of Run.
//   - A phase is one Run that is shared by several workers.
//   - A team is a set of workers that take part in one phase after another.
//   - To claim a task is to become the one who runs it.
//   - To settle claimed tasks is to say that they have been run.
//
// # The phase word
//
// All claims of a phase, and of all phases of a team, go through one atomic
// word of 64 bits:
//
//	 63        32 31         0
//	+------------+------------+
//	|   number   | tasks left |
//	+------------+------------+
//
// A claim replaces the whole word by the word less one, provided that it still
// is what the worker has seen. With weights and k of n tasks left the claim is for
// position n-k of the claim order, which is from the heaviest down. Without, a
// takeNext takes any task: the worker picks one of its own span, a run of
// neighbouring tasks, and when none is left there, of the parts of others.
//
//   - T1 Each position is claimed once: the word never has the same value twice
//     in a phase. Each task is picked once: parts count up, and claims are as
//     many as tasks.
//   - T2 What belongs to the phase (function, order, context) is read between
//     a claim and its settlement only, and written only by the Run that has
//     the team, while no task is left and all are settled.
//   - T3 A phase ends when all its tasks are settled.
//   - T4 Nobody waits for a worker that has claimed nothing.
//
// So a worker that is late can run nothing of an ended phase. If it looked at
// the word of that phase and was delayed, its claim fails, because the word
// has changed since. If its claim succeeds, it is a claim of the phase that is
// there now (T1), which therefore cannot end (T3), and all it reads after that
// is of that phase (T2). The number makes the word differ from phase to phase.
// This matters to the one thing that is read before a claim: how many workers
// may take part. The number repeats after 2^32 phases; a worker delayed for
// exactly that many could then take part in a phase that asked for fewer
// workers, and still runs a task of that phase, once.
//
// A cursor beside a phase number would not do: a worker could read the number
// of one phase and advance the cursor of the next.
//
// # The states of a phase
//
//	          begin                last claim               all settled
//	closed ----------> open ------------------> draining ---------------> closed
//	                    |                           ^
//	                    +---------------------------+
//	                     context ended: all that is
//	                     left is claimed and skipped
//
// In the open phase workers come and claim; in the draining one they finish
// what they claimed. Each adds up what it claims and settles it at once when
// nothing is left, so a task costs the claim and, without weights, a count in a
// span that mostly nobody else touches. The caller then waits
// for the others: it spins, and then adds a large number to the count of
// pending tasks and blocks on a channel. The worker whose subtraction leaves
// exactly that number is the last and sends to the channel. Both operations
// are on one word, so that one of the two sees the other: the caller that
// nothing is pending, or the last worker that the caller waits.
//
// # The states of a worker
//
//	                 called                      nothing left
//	spinning --------------------> working ---------------------> spinning
//	    |  ^                        |    ^
//	    |  |         Goexit in task |    | a new goroutine
//	    |  |                        v    |
//	    |  |                       replaced
//	    |  |
//	    |  +----------- token ------------+
//	    |                                 |
//	    +-----> parking ------------> parked       and from anywhere
//	   bound    (looks     not        (blocked      but working, when the
//	   reached  once more) called     on channel)   team closes: ended
//
// A worker is called when a task is left that it may claim, or when the team
// closes. It spins for a number of looks, and only if fewer than GOMAXPROCS-1
// workers of the process do so (as of when the team started); otherwise it
// parks at once. Parked workers use no processor, and a team whose workers are
// all parked counts as blocked in a testing/synctest bubble.
//
// No wake-up is lost. A worker that parks first says so, by setting its parked
// flag, and then looks once more whether it is called. A caller first
// publishes the phase word and then looks at the flags. Atomic operations have
// one order that all agree on, so either the caller sees the flag or the worker
// sees the word. If both do, they both try to clear the flag. Who succeeds
// decides: if it is the worker, no token comes and it goes on; if it is the
// caller, exactly one token comes and the worker takes it.
//
// A caller wakes no more workers than it has tasks for, and begins to claim
// without waiting for them.
//
// # Failures
//
// A task that panics or returns an error ends nothing but itself. A task that
// calls runtime.Goexit ends its goroutine. In a team another one takes the
// worker's place before the phase can end. Without a team the others go on.
// On the caller's goroutine the deferred call that notices it runs what is
// left, so each such task takes some more of the stack; then the deferred
// calls of Run wait for the workers, release the team and let the goroutine
// end.
//
// # What the package does not do
//
// It has no queue of tasks and no futures, starts no goroutine that outlives
// the call that started it, and cannot stop a task that runs. Tasks that wait
// for each other are the caller's own risk: a phase may run on one goroutine.
package tasks
