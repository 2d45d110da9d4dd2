// Package tasks runs n independent tasks on several goroutines and returns when all have
// run. See guide/container.md.
//
// [Run] runs one phase of tasks. [WithTeam] keeps goroutines ready between phases. Results never depend on the number of workers or on timing.
//
// # Terms
//
//   - task: a call of the function with a number from 0 to n-1.
//   - worker: a goroutine that runs tasks. Worker 0 is the caller of Run.
//   - phase: a Run that several workers share.
//   - team: a set of workers that take part in one phase after another.
//   - to take a task: to become the worker that runs it.
//   - to finish tasks: to report that taken tasks have run.
//
// # The phase word
//
// Workers take the tasks of all phases of a team through one atomic word of 64 bits:
//
//	 63        32 31         0
//	+------------+------------+
//	|   number   | tasks left |
//	+------------+------------+
//
// To take a task, a worker swaps the word it has read for that word less one. With uneven
// weights and k of n tasks left it gets position n-k of the order, heaviest first. Otherwise
// it picks a task: from its own span, a run of neighbouring tasks, then from other spans.
//
//   - T1 Each position is taken once: a phase has no word twice. Each task is picked
//     once: spans count up, and each taken position picks one task.
//   - T2 The function, order and context of a phase are read only between taking and
//     finishing a task. Only the Run that has the team writes them, while no task is
//     left and all are finished.
//   - T3 A phase ends when all its tasks are finished.
//   - T4 Nobody waits for a worker that has taken nothing.
//
// So a late worker runs no task of an ended phase. Its swap fails if it read the word of
// that phase, because the number has changed. If the swap succeeds, the task is of the
// current phase (T1), which cannot end before it (T3), so the worker reads data of that
// phase only (T2). Only the limit of workers is read before the swap: a worker delayed for
// exactly 2^32 phases may exceed it.
//
// # The states of a phase
//
//	          begin               last task taken           all finished
//	closed ----------> open ------------------> draining ---------------> closed
//	                    |                           ^
//	                    +---------------------------+
//	                     context ended: all tasks
//	                     left are taken and skipped
//
// Each worker finishes its tasks at once when no task is left. So a task costs one swap
// and, without an order, one count in a span that others seldom touch. The caller waits: it
// spins, adds a large number to the count of pending tasks, and blocks on a channel. The
// worker whose subtraction leaves exactly that number sends to the channel. Both operations
// are on one word, so either the caller sees that nothing is pending, or the last worker
// sees that the caller waits.
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
//	   bound    (looks     not        (blocked      except working, when the
//	   reached  once more) called     on channel)   team closes: ended
//
// A worker is called when it may take a task or when the team closes. At most GOMAXPROCS-1
// workers of the process spin (as of the start of the team); others park at once.
//
// No wake-up is lost. A parking worker sets its flag and then looks once more whether it is
// called; a caller publishes the phase word and then looks at the flags. If both see each
// other, both try to clear the flag: the worker continues without a token, or the caller
// sends one.
//
// # Failures
//
// A task that panics or returns an error ends only itself. A Goexit ends its goroutine: a
// team replaces that worker before the phase can end, and without a team the others
// continue. On the caller's goroutine, a deferred call runs the tasks that are left, taking
// more stack each time. Then the deferred calls of Run release everything, and the
// goroutine ends.
//
// # Limits
//
// The package has no task queue and no futures, starts no goroutine that outlives its call,
// and cannot stop a running task. Tasks must not wait for each other: a phase may run on
// one goroutine.
package tasks
