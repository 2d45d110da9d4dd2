// Package batch is part of the engine of package store. It has no compatibility
// promise. It records commands in queues, gives them to a flush in an order that
// depends only on the recorded commands, and counts their outcomes in [Counts].
// The guide's page is guide/flush.md.
//
// # Terms
//
//   - queue: one task's private record of commands.
//   - key: (pass, task), which orders the queues of a batch. It comes from the
//     work, never from the worker, and the caller never sees it.
//   - batch: every queue recorded since the last flush.
//   - column: what one queue recorded for one table: creates and puts, each in
//     a typed array. A position in such an array is a sequence.
//   - list: the erases that one queue recorded for one typeId; they need no type. Those
//     of a chunk's task name rows, until the table is changed by something else.
//   - segment: up to 16,384 creates of one column. Its number, of those that the
//     table has used so far, is what their provisional handles are made of.
//   - provisional handle: the name of an item that is recorded but not yet
//     flushed.
//   - inbox: where goroutines that take part in no pass leave commands. One call
//     is a queue of its own.
//   - sequence: a run of passes that gets its place among the others afterwards.
//
// # From queues to commands
//
//	pass 0            pass 1    inbox       table A, in key order
//	task 0  task 1    task 0    call 0      (0,0) (0,1) (1,0)
//	  A B     A         A C       B    ->   table B  (0,0) (inbox,0)
//	                                        table C  (1,0)
//
// Commands are data: values lie in typed arrays, with no closure and no boxing,
// and in the steady state recording allocates nothing. The memory of a queue is
// reused by the queue of the same key in the next batch, so that growth does not
// depend on timing either. When batches have needed much less for a while, what
// a burst left behind is given back.
//
// Nothing is counted per command. What a queue holds is what its arrays hold.
// Each array has room for a share of what the limits of the queue admit, so that
// the first command beyond them is noticed, whatever memory there is.
//
// # Provisional handles
//
//	bit 63   62 ... 48            47 ... 14   13 ... 0
//	1        the table's first    segment     offset
//	         typeId
//
// Segments of a table are numbered along its whole history, from a random number
// on, in the order in which
// queues ask for them, and whatever becomes of a batch: a pass that fails, a
// batch that is dropped, a rollback use numbers up and give none back. So such a
// handle is of one batch alone and stale in every other, until the table has used 17
// billion segments (2^34) since; then they begin again. That is 207 days of
// 16 queues that create something in each of 60 batches a second. A call of the
// inbox may begin before a flush and end after it: its handles are as good in the
// batch that it ends in.
//
// The bits have no order: they may differ from run to run, and nothing
// in a flush depends on them. What a provisional handle stands for is looked up among the
// segments of the batch by segment and offset (see [Commands.Resolve]), in memory
// that depends on how many those are.
//
// # Invariants
//
//	B1  every command of a batch is in exactly one of the first eight [Counts]
//
// # Who may call
//
// A [Queue] belongs to one goroutine at a time. Everything else here belongs to
// the store, which calls it between passes or, where a comment says so, from the
// worker that owns a shard.
package batch
