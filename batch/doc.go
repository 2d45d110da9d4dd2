// Package batch is part of the engine of package store. It has no compatibility promise. It
// records commands in queues, passes them to a flush in an order that depends only on the
// recorded commands, and counts their outcomes in [Counts]. See guide/flush.md.
//
// # Terms
//
//   - queue: one task's private record of commands.
//   - key: (pass, task), the order of queues in a batch. It depends on the work,
//     never on the worker. Callers never see it.
//   - batch: all queues recorded since the last flush.
//   - table buffer: the creates and puts of one queue for one table, in typed arrays.
//     A position in such an array is a sequence.
//   - list: the erases of one queue for one typeId. They need no type. A chunk's
//     task erases by row, until something else changes the table.
//   - segment: up to 16,384 creates of one table buffer. Provisional handles contain
//     its number, which counts the segments of the table.
//   - provisional handle: the name of an item that is recorded but not yet flushed.
//   - inbox: queues of goroutines outside of passes. Each call has its own queue.
//   - sequence: a run of passes that is placed in the batch later.
//
// # From queues to commands
//
//	pass 0            pass 1    inbox       table A, in key order
//	task 0  task 1    task 0    call 0      (0,0) (0,1) (1,0)
//	  A B     A         A C       B    ->   table B  (0,0) (inbox,0)
//	                                        table C  (1,0)
//
// Commands are data: values lie in typed arrays, without closures or boxing. Recording
// allocates nothing in the steady state. The queue with the same key reuses the memory in
// the next batch, so growth does not depend on timing either. Memory of a burst is released
// after batches have needed much less for a while.
//
// Recording counts nothing per command. Each array gets a share of the queue's limits as
// capacity, so the first command past a limit finds its array full.
//
// # Provisional handles
//
//	bit 63   62 ... 48            47 ... 14   13 ... 0
//	1        the table's first    segment     offset
//	         typeId
//
// The segments of a table are numbered over its whole history, from a random start, in the
// order in which queues ask for them. Failed passes, dropped batches and rollbacks do not
// return numbers. So a handle belongs to one batch and is stale in every other, until the
// table has used 2^34 (17 billion) segments: 207 days of 16 creating queues in 60 batches
// per second. A call of the inbox may span a flush; its handles belong to the batch in
// which it ends.
//
// The bits may differ from run to run, and no outcome depends on them. [Commands.Resolve]
// looks a handle up by segment and offset, in memory proportional to the segments of the
// batch.
//
// # Invariants
//
//	B1  every command of a batch is in exactly one of the first eight [Counts]
//
// # Concurrency
//
// A [Queue] belongs to one goroutine at a time. The store calls everything else between
// passes or, where a comment says so, from the worker that owns a shard.
package batch
