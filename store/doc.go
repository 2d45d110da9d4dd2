// Package store keeps the objects of a simulation in tables and changes them in
// deterministic parallel flushes. It is the package programs import.
//
// The folder guide has a page for each task: quick-start.md first, errors.md and
// panics.md when something goes wrong. In the repository, go run ./guide shows them in
// a browser.
//
// # Terms
//
//   - table: all items of one Go type; one or more shards. A [Table] packs its
//     items; a [StableTable] keeps each at its address.
//   - column: an array beside the items of a packed table, kept in step with its rows.
//   - optional data: what few items of a table have, in rows of its own.
//   - handle: the name of one item. It never dangles, and along one history it is
//     never issued twice; a [Store.Rollback] begins another one.
//   - phase: a period with one rule for access.
//   - pass: a parallel phase in which tasks record commands into queues.
//   - queue: one task's private record of creates, erases and puts.
//   - batch: every queue recorded since the last flush.
//   - flush: the phase that applies the batch.
//   - chunk: a run of rows given to one task in a parallel pass.
//   - frame: the outermost of [Store.Write], [Schedule.Run] and [Store.Flush]. What it
//     did is one thing to the outside, however many flushes it had.
//   - system: a step of a [Schedule] that says what it reads, writes and emits.
//   - claim: the sole right of a world, of package world, to change its store.
//   - wave: those systems of a run that run at the same time.
//
// # A table and its handles
//
//	s := store.New(store.Options{})
//	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 4})
//
// A table holds all items of one Go type. A [Handle] names an item wherever it
// moves, and [Table.Get] finds it with one compare; once the item is erased the
// handle finds nothing, for good. A handle is a number of 64 bits: put it into
// other items, use it as a key, send it over a network. A type of which many items
// come and go gets several shards, which a flush changes in parallel.
//
// # A pass and its queues
//
//	err = ships.ForEach(ctx, func(c store.Chunk[Ship]) {
//		for i := range c.Items {
//			ship := &c.Items[i]
//			ship.Pos += ship.Vel
//			if ship.Hull <= 0 {
//				c.Erase(i)
//				wrecks.Emplace(c.Queue, Wreck{Pos: ship.Pos})
//			}
//		}
//	})
//
// A pass divides work into tasks, here one per chunk of rows. A task changes the
// items of its own chunk in place. Everything else it would change it records, in
// a queue of its own: [Table.Emplace], [Table.Erase], [Table.Put]. While a pass
// runs nothing structural changes, so a pointer from a lookup stays good and any
// number of goroutines may look things up.
//
// [Store.Each] is a pass of n tasks over no table in particular, [Store.Do] of one, [Store.Queues]
// serves goroutines of the caller's own, and [Store.Inbox] whoever comes from
// outside, [Store.Submit] if they wait for what becomes of it. [Reduce] only reads, and adds things up.
//
// # The flush
//
//	ForEach / Each                           Flush
//	task 0: reads, writes its rows, records  \
//	task 1: reads, writes its rows, records   >  plan, commit, apply  ->  next tick
//	task 2: reads, writes its rows, records  /   shard by shard, in parallel
//
// [Store.Flush] applies what was recorded, every shard by exactly one goroutine,
// in an order that depends only on what was recorded. There are no locks on
// containers; work is divided instead. A [Report] says what became of each
// command.
//
// [Table.Emplace] returns a provisional handle at once. It may be stored in
// values recorded for the same flush and used to erase or put in the same batch;
// it resolves in no lookup. The flush makes it real wherever it was stored in a
// handle field of a recorded value, and [Table.Resolve] translates it until the
// next frame flushes something. Nothing makes it real in a live item that was written
// in place; record a Put there, or write the item after the flush.
//
// Many changes to one item, ten bullets that hit one target, are not puts. They
// are events, and events are items: emplace them into a table of their own, with
// [TableOptions].Events, so that they end after the last system that reads them. [Fold] brings
// each to its target, in one order for any number of workers:
//
//	err := store.Fold(ctx, hits, ships, func(h *Hit) store.Handle[Ship] { return h.Target },
//		func(s *Ship, h *Hit) { s.Hull -= h.Damage })
//
// [GroupBy] sorts them by target first, in parallel: then each task of
// [Groups.ForEach] has targets of its own to write, and finds what hit them. It pays where a
// target records something for what hit it, and where events are walked over more than
// once. The children of a parent are found in the same way.
// [EraseOrphans] erases all items below a parent that is gone, and [EraseFunc] those that
// a function chooses.
//
// # Columns
//
//	pos := store.AddColumn(boids, store.ColumnOptions[Pos]{Name: "pos"})
//	vel := store.AddColumn(boids, store.ColumnOptions[Vel]{Name: "vel"})
//
//	err = boids.ForEachRows(ctx, func(r store.Rows[Boid]) {
//		p, v := pos.Write(r), vel.Read(r)
//		for i := range p {
//			p[i].X += v[i].X
//		}
//	})
//
// A pass over one field reads the whole items that it lies in. A [Column] is that field
// in an array of its own: element i belongs to row i, and the table keeps it so. In a
// schedule a column is a resource like a table, so that systems which write different
// columns of one table run at the same time, each by a [Table.ForEachRows], to which items
// are read alone. What a task would change of other items it records: [Column.Set].
//
// Elements are zero for new items. What few items have is no column but a [Sparse], which
// [AddSparse] adds to a table of either kind: rows of its own, found by the handle of the
// item and gone with it. [Sparse.Set] and [Sparse.Unset] are recorded, [Sparse.Put] and
// [Sparse.Remove] of a Write take effect at once, and [Sparse.ForEach] visits the items that
// have it.
//
// A task may read elements that no task of the pass writes. Where each element follows
// from those of its neighbours there are two columns: a pass reads one and writes the
// other, and then they are exchanged ([Exchange]). The example Life does so.
//
// # An index by key
//
//	names := store.AddIndex(players, "name", func(p *Player) (string, bool) { return p.Name, true })
//
//	h, ok := names.Find("Ada")
//
// An [Index] finds an item by a key that at most one item of the table has. Every change of the
// table keeps it right, [Store.Load] and [Store.Rollback] rebuild it, and digests and
// snapshots do not include it. A flush that would give two items one key fails with
// [ErrDuplicate]; a call of [Store.Submit] that would do so is dropped alone.
//
// # A schedule
//
//	type on = []store.Resource
//	frame := store.NewSchedule(s,
//		store.System{Name: "steer", Reads: on{ships}, Writes: on{pilots}, Run: steer},
//		store.System{Name: "shoot", Reads: on{ships}, Emits: on{shots}, Run: shoot},
//		store.System{Name: "hit", Reads: on{shots}, Writes: on{ships}, Run: hit},
//	)
//	for running {
//		report, err := frame.Run(ctx)
//	}
//
// A program of many passes says what each step does and leaves the rest to a
// [Schedule]: steer and shoot run at the same time, then what shoot recorded is
// flushed, because hit reads it, and then hit runs. Of two systems that conflict
// the one given first runs first. [Schedule.Explain] tells why each is where it
// is. A [Loop] runs frames at a fixed rate, or counts the frames that are due where an
// engine owns the loop, and [Store.Team] keeps workers awake between them.
//
// A ForEach counts as a write, even if its function only looks: its tasks may.
// A system that only reads a table uses [Reduce], or, to record something,
// [Store.Each] and lookups.
//
// A Run is one phase, alone or as a part of a [Store.Write]: readers, who wait in
// [Store.Read], see whole frames, and no other goroutine changes anything between two
// waves.
//
// # Following what changes
//
// A network layer, an editor or an index asks what the last frame did to a table that was
// registered with Changes, and compares nothing: [Created], [Erased], and [Written], which
// has puts and what passes wrote in place. Their tasks note that by [Chunk.Wrote].
//
//	for h, ship := range store.Written(ships) {
//		send(h, ship)
//	}
//
// The example Written keeps a client's copy equal in this way.
//
// # Going back
//
// [Store.Checkpoint] copies the whole state into memory that is used again and
// again, and [Store.Rollback] puts it back, at little more than the cost of
// copying the bytes: for undo, and for netcode that runs ahead with a guessed
// input and takes ticks back when the real one arrives. Run again with the same
// input, the store comes to the same digests. Items that hold slices, maps or
// pointers say how they are copied: [TableOptions.Clone].
//
// # Saving
//
// [Store.Snapshot] writes the state for [Store.Load] of another process, or of
// another machine, and [Checkpoint.WriteTo] does while ticks go on. A handle that
// named an item at the save names it after the load. A handle that was stale at the
// save is stale, and so is a provisional one ([Table.Emplace] has the odds). A handle
// that was issued after the save may name another item. All that
// is read is verified before anything changes. Tables and fields are matched by
// name, so that a later version of a program loads what an older one saved; where
// that does not do, [TableOptions.Migrate] does, or an [ErrSchema] shows both. Items
// that hold pointers or interfaces cannot be saved; handles, strings, slices and
// maps can.
//
// What is not to be lost between two snapshots is logged before it is applied: package
// world does that. It has the sole right to change its store.
//
// The examples Tour, Particles, SceneGraph, ArenaServer and Netcode are whole programs;
// go doc does not print them, but they are the files example_*_test.go.
//
// # Determinism
//
// The state after a flush is bit-identical whatever the number of workers.
// Queues are ordered by a key that comes from the work: the number of the pass,
// then the chunk or task. Chunks depend on row counts and the table's chunk size
// alone. Erases are a set; creates are dealt to shards by a fixed rule; errors
// are chosen by lowest task. [Store.Digest] hashes the whole state, but for what
// pointers lead to, so that two runs can be compared after every flush.
//
// What a program adds must be deterministic too: draw random numbers from [Queue.Rand],
// sum floating-point numbers with [Reduce], write no item but the chunk's own.
//
// # Who keeps what over which phase
//
//	what                                     is good until
//	pointer from Get, At, All, Chunk.Items   the phase ends; in a StableTable: the item is erased, or a Load
//	element of a Column, by Get, At          the phase ends, or an Exchange of the column
//	slice from Rows, Read, Write             the task ends
//	Chunk, Rows, GroupChunk                  the task ends
//	Groups                                   the next flush or reorder of one of its two tables
//	Queue                                    its task or call returns; of Queues: the next flush or Discard
//	pointer from Staged, EmplaceFunc         the task or call returns
//	provisional handle, in commands          the batch is flushed or dropped; then it is stale
//	provisional handle, by Resolve           the next frame flushes something, or a Rollback or Load
//	Created, Erased, Written                 a later frame flushes, if only nothing, or changes such a table at once
//	Receipt of Submit                        for ever
//	Report of Flush                          the next flush; of Run: the next one; Report.Clone: for ever
//	Writer, and maps from Maps               its Write ends
//	Handle                                   for ever: it finds its item or nothing; issued behind a Checkpoint: its Rollback
//	Checkpoint                               the next Checkpoint into it
//
// Calls of the inbox wait for the first flush of the next frame, and behind a flush that
// failed for the next one.
//
// # Who may do what
//
//	call                                inside                        from
//	Get Has At All Len Resolve Find     Read, pass, Reduce, Write,    any goroutine of that phase
//	Created Erased Written Of Member    system
//	DumpTable DumpColumns
//	DigestTables
//	                                    no phase, System.If           the goroutine that flushes
//	Emplace Erase EraseAll Put Set      pass, call of the inbox       the goroutine that owns the queue
//	Staged Unset
//	                                    Store.Queues: till the flush
//	write items in place                ForEach                       the task, its own chunk
//	                                    system                        one goroutine, tables it writes, while no pass of it runs
//	                                    Write                         one goroutine, while no pass or flush runs
//	write elements in place             ForEach, ForEachRows          the task, its own chunk
//	                                    system                        one goroutine, columns it writes, while no pass of it runs
//	                                    Write                         one goroutine, while no pass or flush runs
//	Insert Remove Clear Maps            Write                         likewise
//	Sparse.Put EndFrame
//	ForEach Each Do GroupBy             no phase, Write, system       one at a time
//	Groups.ForEach ForEachRows
//	EraseFunc EraseOrphans Fold
//	Exchange                            Write, system                 one at a time
//	Reduce                              no phase, Read, task          any
//	                                    Write, system                 one at a time
//	Digest Verify Snapshot              no phase, Read                any
//	ReadCheckpoint
//	                                    Write                         one at a time
//	Flush Schedule.Run                  no phase, Write               one at a time
//	Checkpoint Rollback Load            no phase, Write               one at a time
//	SortFunc SortByKey Defragment       Write                         one at a time
//	Write Read Close Submit             no phase                      any
//	Queues Discard Pending              no phase, Read, Reduce        the goroutine that flushes
//	Register RegisterStable AddColumn   no phase open at all          any
//	AddSparse
//	Shuffle
//	Inbox Stats Flushed Epoch Timings   anywhere                      any
//
// A task is a call of the function of a pass or Reduce. Calls that are made one at a
// time take turns with each other: inside a Write or system a second one, whichever
// it is, is [ErrPhase]; without a phase they wait for each other at the gate, but for
// a second Flush, or Run of one schedule, which is [ErrPhase] too.
//
// While package world drives the store, phases of others that are not shared, and the
// calls of the inbox, are [ErrPhase] as well.
//
// "Inside" means through the context that the phase gave to its function: that
// is how a call joins. A call that does not fit is [ErrPhase] at once; a call
// with a context from outside waits at the gate, which is first come, first
// served. A pass called from inside another phase with the outer context would
// therefore wait for itself, for ever. A build with the tag handloom_check makes
// that [ErrPhase], unless the context has a deadline; a normal build cannot tell that
// the goroutine is inside, or not for less than many times the cost of a pass. Run a
// program that stands still with that tag. The functions that get no context
// (System.If, Links, Clone, the comparison of a sort) open no phase at all.
//
// # Failure
//
// A stale handle is data: lookups say false, commands are counted. A flush that
// meets a limit, or whose context ends before the commit point, changes nothing
// and keeps the batch. A pass in which a task fails runs all other tasks, drops
// what it recorded and returns the error of the lowest task; so does a frame in
// which a system fails, with what it recorded since its last flush. A panic in a
// task or system is returned as [*PanicError], which says where, and prints the
// stack by %+v. Misuse that
// no caller can mean (a queue kept past its pass, a Writer kept past its Write)
// panics and says the fix.
//
// # Watching a store
//
// The store keeps no log and registers no metrics; it hands out values. A
// [Report] says what became of every command of a flush, and Options.AfterFlush
// is called with each; [Store.Stats] has the size of every table and may be asked
// at any time, from any goroutine. Both print as text, and read and write themselves
// as JSON. The example Expvar publishes them.
// [Store.Flushed] is the sum of all reports, for whoever asks now and then.
//
// Package storeweb shows any store over HTTP, its items included:
//
//	mux.Handle("/debug/store/", storeweb.Handler(s))
//
// An execution trace (runtime/trace, go tool trace) shows a region for each phase,
// for the steps of a flush and for what it does to each shard, on the worker that
// does it. Without a trace they cost a branch.
//
// Whether a program computes the same for any number of workers, and where it
// first does not, package storetest finds out. It compares [Store.DigestTables]
// after every flush, on stores whose tasks run in shuffled order ([Store.Shuffle]),
// and looks at items with [Store.DumpTable].
//
// # How it is built
//
// No item type is known below the typed shells: a table, its queues and its shards
// work by handles, rows and bytes, and are compiled once for all tables of a program.
// A value passes through seven files of four packages from Emplace to its row, always
// towards the inner package:
//
//	queue.go                     Table.Emplace
//	  batch/recorder.go          appends the value to the queue's buffer and names its place
//	flush.go                     Flush: gather, plan, deal, apply
//	  batch/commands.go          joins the buffers in key order and finds the surviving creates
//	tableflush.go                deals the surviving creates to the shards of the table
//	  shard/shard.go             plans and applies one shard: puts, erases, creates
//	    internal/dense/insert.go copies a run of values after the last row; internal/slotset
//	                             issues a slot for each, and with it the handle
//
// A lookup passes through two:
//
//	table.go                     Table.Get finds the map by the handle's typeId
//	  internal/dense/lookup.go   Find compares the slot's word with the handle
//
// # What it does not do
//
// It is not an entity-component system (one struct type, one table), not a cache
// (nothing is evicted) and not a database (nothing is written to disk). A store
// starts no goroutine that outlives a call.
//
// # Sources
//
// That a lock inside each container call protects too little and costs too much,
// and that work should be divided into tasks instead, is the advice of "Game
// Engine Containers - handle_map" (Jeff Kiah), whose typeId routing, batched
// EmplaceItems and EraseItems and dense iteration this package turns into phases.
package store
