// Package store keeps the objects of a simulation in tables and changes them in
// deterministic parallel flushes. Programs import only this package.
//
// The folder guide has a page for each task. guide/rules.md has the allowed callers of each
// call and the lifetimes of values, guide/errors.md and guide/panics.md the faults, and
// guide/inside.md the way through the code. In the repository, go run ./guide shows the
// pages in a browser.
//
// # Terms
//
//   - table: all items of one Go type, in one or more shards. A [Table] packs its items, a
//     [StableTable] keeps each at its address, and a [Value] is a table of one item.
//   - handle: the name of one item, wherever the item moves. After the erase of the item it
//     finds nothing. No handle is issued twice, except after a [Store.Rollback] or [Store.Load].
//   - column: data of the items of a table in an array of its own. A [Column] has an element
//     for each row; a [Sparse] is a column that few items have.
//   - index: the items of a table by a unique key. See [AddIndex].
//   - pass: parallel tasks that record commands, such as [Table.ForEach], [Store.Each],
//     [Store.Do], [EraseFunc] and [Fold].
//   - chunk: a run of rows that belongs to one task of a pass.
//   - queue: the commands that one task recorded. Its key is (pass, task), and the position of
//     a command in it is the sequence. Commands are ordered by (key, sequence).
//   - flush: the change of the tables by the batch, which is all queues since the last flush.
//   - frame: the outermost of [Store.Frame], [Store.Write], [Schedule.Run] and [Store.Flush],
//     with all its flushes. Readers see whole frames.
//   - system: a step of a [Schedule] that declares its reads, writes and emits.
//   - event: an item that a flush erases after its last reader. See [TableOptions].
//   - group: the items that name one item of another table. See [GroupBy].
//   - changes: the lists of the items that a frame created, erased and wrote. See [Created],
//     [Erased] and [Written].
//   - checkpoint: a copy of the whole state in memory. [Store.Rollback] restores it, and
//     [Checkpoint.WriteTo] writes it as a snapshot for [Store.Load].
//   - digest: a hash of the whole state without pointer targets, equal on every platform. See
//     [Store.Digest].
//   - call: commands of a goroutine outside the frames. [Store.Inbox] leaves them for the next
//     frame, and [Store.Submit] also waits for their outcome.
//
// # Tables
//
//	s := store.New(store.Options{Workers: 4})
//	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 2})
//
// A [Handle] has 64 bits: store it in other items, use it as a key, send it over a network.
// [Table.Get] finds the item by one compare. If many items of a type come and go, use
// several shards, because a flush changes them in parallel.
//
// In a [Store.Write] or [Store.Frame] a [Writer] changes tables at once. All other changes
// are recorded.
//
// # Passes
//
//	err := ships.ForEach(ctx, func(c store.Chunk[Ship]) {
//		for i := range c.Items {
//			c.Items[i].Hull--
//			if c.Items[i].Hull < 0 {
//				c.Erase(i)
//			}
//		}
//	})
//
// A pass divides work into tasks, here one for each chunk. A task writes the items of its own
// chunk in place and records all other changes in its queue: [Table.Emplace], [Table.Erase],
// [Table.Put], [Column.Set]. A pass moves no item, so pointers stay valid, and any goroutine
// of the pass may look up items that no task writes.
//
// [Table.ForEachRows] only reads the items and writes columns. [Store.Each] has n tasks
// without a table, and [Store.Do] one task. [Reduce] records nothing: it reads, and combines
// the results in the order of chunks. [Store.Queues] serves goroutines of the caller.
//
// Passes, flushes, reads and frames are phases. A phase holds the store alone, except that
// reads share it. A call with the context that a phase gave to its function joins the phase.
// A call with another context waits until the phase ends.
//
// # Flush
//
// [Store.Flush] applies the batch: puts and Sets, then erases, then creates. One goroutine
// applies each shard, so containers have no locks, and the order depends only on the recorded
// commands. The last put to an item wins, and erases are a set. A [Report] counts the
// commands by outcome.
//
//	leader := ships.Emplace(q, Ship{Name: fmt.Sprint("leader ", task)})
//	ships.Emplace(q, Ship{Name: fmt.Sprint("wingman ", task), Target: leader})
//
// Emplace returns a provisional handle. Commands and values of the same batch may have it.
// Lookups do not find it. The flush replaces it in handle fields of recorded values, but not
// in live items that a task wrote in place. [Table.Resolve] translates it until the next
// frame flushes commands.
//
// Several changes to one item, such as hits on a target, are events: items of a table of
// their own. [Fold] applies each event to its target in a fixed order.
//
// The store has no log and no metrics. Options.AfterFlush receives each report, and
// [Store.Flushed] is the sum of all. [Store.Stats] has the sizes of all tables, for any
// goroutine at any time. Reports print as text; all encode as JSON.
//
// # Schedules
//
//	type on = []store.Resource
//	a.frame = store.NewSchedule(
//		s,
//		store.System{Name: "fly", Writes: on{a.bullets}, Emits: on{a.bullets}, Run: a.fly},
//		store.System{Name: "steer", Writes: on{a.fighters}, Emits: on{a.bullets}, Run: a.steer},
//		store.System{Name: "hit", Reads: on{a.fighters}, Writes: on{a.bullets}, Emits: on{a.bullets, a.wounds}, Run: a.hit},
//		store.System{Name: "suffer", Reads: on{a.wounds}, Writes: on{a.fighters}, Emits: on{a.fighters}, Run: a.takeDamage},
//	)
//
// A [Schedule] orders systems by their declarations. Here fly and steer run at the same time,
// because emits only record. Then a flush applies the new bullets, because hit writes them, and
// another flush the wounds, because suffer reads them. If two systems conflict, the first in
// the list runs first. [Schedule.Explain] prints the order and its reasons. A
// [Table.ForEach] counts as a write of its table.
//
// A Run is one phase, alone or inside a Frame, so no other goroutine changes the store between
// two of its systems. Package tasks has a loop with a fixed rate.
//
// # Determinism
//
// The state after a flush is bit-identical for any number of workers. Queues are ordered by
// number of the pass, then chunk or task. Chunks depend only on row counts and chunk size.
// Creates go to shards by a fixed rule. Of several errors the lowest task's is returned.
//
// Programs must be deterministic too: draw random numbers from [Queue.Rand], sum
// floating-point numbers by [Reduce], and write only items of the task's own chunk. Package
// storetest compares runs with different numbers of workers.
//
// # Failure
//
// A stale handle is data: lookups return false, and commands are counted. A flush that
// exceeds a limit, or whose context ends before the commit, changes nothing and keeps the
// batch. If a task fails, the pass runs its other tasks, drops all that it recorded and
// returns the error of the lowest task. If a system fails, the frame drops the commands since
// its last flush. A panic in a task or system is returned as a [*PanicError] with its
// position; %+v prints the stack. Misuse, such as a queue or Writer kept too long, panics, and
// the message has the fix.
package store
