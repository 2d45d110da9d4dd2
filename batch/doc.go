// Package batch is part of the engine of package store, without a compatibility promise. It
// records commands in queues and orders them for a flush by (pass, task). See
// guide/flush.md.
//
// # Terms
//
//   - queue: one task's private record of commands.
//   - key: (pass, task), the order of queues in a batch.
//   - batch: all queues recorded since the last flush.
//   - table buffer: the creates and puts of one queue for one table, in typed arrays.
//     A position in such an array is a sequence number.
//   - list: the erases of one queue for one typeId. A chunk's task erases by row,
//     until something else changes the table.
//   - segment: up to 16,384 creates of one table buffer.
//   - provisional handle: the name of an item that is recorded but not yet flushed.
//   - inbox: calls of goroutines outside of passes, each with a queue.
//   - Sequence: a run of passes that is placed in the batch later.
//
// # From queues to commands
//
//	pass 0            pass 1    inbox       table A, in key order
//	task 0  task 1    task 0    call 0      (0,0) (0,1) (1,0)
//	  A B     A         A C       B    ->   table B  (0,0) (inbox,0)
//	                                        table C  (1,0)
//
// The queue with the same key reuses the memory in the next batch, so growth does not
// depend on timing. Memory of a burst is released after a while.
//
// # Provisional handles
//
//	bit 63   62 ... 48            47 ... 14   13 ... 0
//	1        the table's first    segment     offset
//	         typeId
//
// The segments of a table are numbered over its whole history, from a random start, in the
// order in which queues ask for them. Failed passes, dropped batches and rollbacks return
// no numbers. So a handle is stale in every batch except its own for 2^34 segments: 207
// days of 16 creating queues in 60 batches per second. A call of the inbox may span a
// flush; its handles belong to the batch in which it ends. No outcome depends on the bits.
//
// # Invariants
//
//	B1  every command of a batch is in exactly one of the first nine [Counts]
//	B2  the room of a queue, the sum of the shares of its arrays, is at least its load
//	B3  capacities of segments depend on the commands of the queue alone, not on memory
//	    that an earlier batch left
//	B4  a failed flush leaves the batch as it was: values that a plan swapped are swapped
//	    back, and dropped calls are kept
//	B5  one worker has all commands to provisional handles of a table
//
// # Concurrency
//
// A [Queue] belongs to one goroutine at a time. The store calls everything else between
// passes or, if a comment allows it, from the worker that owns a shard.
package batch
