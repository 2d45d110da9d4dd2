// Package batch records commands and hands them to a flush in an order that
// depends only on what was recorded.
//
// # Terms
//
//   - queue: one task's private record of commands.
//   - key: (pass, task), which orders the queues of a batch. It comes from the
//     work, never from the worker, and the caller never sees it.
//   - batch: every queue recorded since the last flush.
//   - column: what one queue recorded for one table: creates, erases and puts,
//     each in its own typed array. A position in such an array is a sequence.
//   - segment: up to 16,384 creates of one column. Its number is what the names
//     of the creates are made of.
//   - provisional handle: the name of an item that is recorded but not yet
//     flushed.
//
// # From queues to commands
//
//	pass 0            pass 1                  table A, in key order
//	task 0  task 1    task 0                  (0,0) (0,1) (1,0)
//	  A B     A         A C            ->     table B  (0,0)
//	                                          table C  (1,0)
//
// Commands are data: values lie in typed arrays, with no closure and no boxing,
// and in the steady state recording allocates nothing. The memory of a queue is
// reused by the queue of the same key in the next batch, so that growth does not
// depend on timing either.
//
// # Provisional handles
//
//	bit 63   62 ... 48            47 ... 32      31 ... 14   13 ... 0
//	1        the table's first    batch number   segment     offset
//	         typeId
//
// Segments are numbered in the order in which queues ask for them, so that the
// bits are a name without order: they may differ from run to run, and nothing
// in a flush depends on them. What a name stands for is looked up by segment
// and offset (see [Commands.Resolve]).
//
// # Who may call
//
// A [Queue] belongs to one goroutine at a time. Everything else here belongs to
// the store, which calls it between passes or, where a comment says so, from the
// worker that owns a shard.
package batch
