// Package store keeps the objects of a simulation in tables and changes them in
// deterministic parallel flushes. Programs import only this package.
//
// The folder guide has a page for each task, errors.md and panics.md for faults. In the
// repository, go run ./guide shows them in a browser.
//
// # Terms
//
//   - table: all items of one Go type, in one or more shards. A [Table] packs its items;
//     a [StableTable] keeps each at its address.
//   - column: an array with one element per row of a packed table.
//   - sparse data: data that few items of a table have, in its own rows.
//   - handle: the name of one item. It never dangles, and is never issued twice, except
//     after a [Store.Rollback] or [Store.Load].
//   - phase: a period with one rule for access.
//   - pass: a parallel phase in which tasks record commands into queues.
//   - queue: the creates, erases and puts that one task recorded. Its key is (pass, task);
//     the position of a command in it is the sequence. Commands are ordered by (key, sequence).
//   - batch: all queues recorded since the last flush.
//   - flush: the phase that applies the batch.
//   - chunk: a run of rows given to one task of a pass.
//   - frame: the outermost of [Store.Frame], [Store.Write], [Schedule.Run] and [Store.Flush], with all
//     its flushes. Readers see whole frames.
//   - system: a step of a [Schedule] that declares its reads, writes and emits.
//   - claim: the sole right of package world to change its store.
//   - wave: systems of a run that run at the same time.
//
// # Tables and handles
//
//	s := store.New(store.Options{})
//	ships := store.Register(s, store.TableOptions[Ship]{Name: "ship", Shards: 4})
//
// A [Handle] names an item wherever it moves. [Table.Get] finds the item with one
// compare; after its erase the handle finds nothing, forever. A handle is 64 bits: store
// it in other items, use it as a key, send it over a network. If many items of a type
// come and go, use several shards, which a flush changes in parallel.
//
// # Passes and queues
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
// A pass divides work into tasks, here one per chunk. A task changes the items of its own
// chunk in place and records all other changes in its queue: [Table.Emplace],
// [Table.Erase], [Table.Put]. A pass changes no structure, so pointers stay valid and any
// goroutine of it may look things up.
//
// [Store.Each] is a pass of n tasks without a table, [Store.Do] of one task.
// [Store.Queues] serves goroutines of the caller, [Store.Inbox] and [Store.Submit]
// callers outside the frames; Submit waits for the outcome. [Reduce] reads and sums.
//
// # Flush
//
//	ForEach / Each                           Flush
//	task 0: reads, writes its rows, records  \
//	task 1: reads, writes its rows, records   >  plan, commit, apply  ->  next tick
//	task 2: reads, writes its rows, records  /   shard by shard, in parallel
//
// [Store.Flush] applies the batch. One goroutine applies each shard, in an order that
// depends only on the recorded commands; containers have no locks. A [Report] has the
// outcome of the commands.
//
// [Table.Emplace] returns a provisional handle. Commands of the same batch may use it and
// store it in values; lookups do not find it. The flush replaces it in handle fields of
// recorded values, and [Table.Resolve] translates it until the next frame flushes
// something. In live items written in place nothing replaces it: record a Put instead, or
// write after the flush.
//
// Several changes to one item, such as hits on a target, are events: emplace them into
// their own table with [TableOptions].Events, which erases them after the last system
// that reads them. [Fold] applies each to its target, in one order for any number of
// workers:
//
//	err := store.Fold(ctx, hits, ships, func(h *Hit) store.Handle[Ship] { return h.Target },
//		func(s *Ship, h *Hit) { s.Hull -= h.Damage })
//
// [GroupBy] groups events by target, or children by parent. Tasks of [Groups.ForEach]
// then write targets and read their groups; this pays if targets record commands or
// events are read repeatedly. [EraseOrphans] erases all items below an erased parent,
// [EraseFunc] the items that a function chooses.
//
// # Columns and sparse data
//
//	pos := store.AddColumn(boids, store.ColumnOptions[Pos]{Name: "pos"})
//	vel := store.AddColumn(boids, store.ColumnOptions[Vel]{Name: "vel"})
//
//	err = boids.ForEachRows(ctx, func(c store.Chunk[Boid]) {
//		p, v := pos.Write(c), vel.Read(c)
//		for i := range p {
//			p[i].X += v[i].X
//		}
//	})
//
// A pass over one field of an item loads whole items. A [Column] is a field in its own
// array: element i belongs to row i. In a schedule a column is a resource of its own, so
// systems that write different columns of a table run at the same time, each with
// [Table.ForEachRows], which only reads the items. Elements of new items are zero.
// [Column.Set] records changes to other elements.
//
// For data that few items have, use a [Sparse], which [AddSparse] adds to a table of
// either kind. [Sparse.Set] and [Sparse.Unset] are recorded; [Sparse.Put] and
// [Sparse.Remove] take effect at once.
//
// A task may read all elements that no task of the pass writes. If each element depends
// on its neighbours, read one column, write another, and swap them by [Exchange], as the
// example Life does.
//
// # Indexes
//
//	names := store.AddIndex(players, "name", func(p *Player) (string, bool) { return p.Name, true })
//
//	h, ok := names.Find("Ada")
//
// An [Index] finds an item by a unique key. Flushes and Writes update it, [Store.Load]
// and [Store.Rollback] rebuild it; digests and snapshots do not include it. A flush that
// would give two items one key fails with [ErrDuplicate]; a call of [Store.Submit] that
// would do so is dropped alone.
//
// # Schedules
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
// A [Schedule] orders systems by their declarations. Here steer and shoot run at the same
// time, then a flush applies the shots, because hit reads them, and then hit runs. If two
// systems conflict, the first in the list runs first. [Schedule.Explain] prints the order
// and its reasons. A [tasks.Loop] runs frames at a fixed rate, or counts due frames if an
// engine owns the loop. [Store.Team] keeps workers spinning between frames.
//
// A ForEach counts as a write of its table. To only read a table, use [Reduce], or
// [Store.Each] and lookups to record commands.
//
// A Run is one phase, alone or inside a [Store.Frame]: a [Store.Read] waits for the end
// of the frame, and no other goroutine changes anything between two waves.
//
// # Changes
//
// [Created], [Erased] and [Written] list what the last frame did to a table registered
// with Changes. Written has puts, and writes in place that tasks noted by [Chunk.Wrote].
//
//	for h, ship := range store.Written(ships) {
//		send(h, ship)
//	}
//
// The example Written keeps a client's copy equal in this way.
//
// # Checkpoints
//
// [Store.Checkpoint] copies the whole state into reused memory, and [Store.Rollback]
// restores it, at little more than the cost of the copy: for undo, and for netcode that
// predicts input. The same input leads to the same digests again. Items with slices, maps
// or pointers need [TableOptions.Clone].
//
// # Snapshots
//
// [Store.Snapshot] writes the state for [Store.Load] in another process or on another
// machine; [Checkpoint.WriteTo] writes it while ticks continue. Handles of items at the
// save name the same items after the load. Stale and provisional handles stay stale
// ([Table.Emplace] has the odds); handles issued after the save may name other items.
// Load verifies all input before it changes anything. It matches tables and fields by
// name, so that later versions of a program load old snapshots. [TableOptions.Migrate]
// converts other types; otherwise an [ErrSchema] shows both. Items may hold handles,
// strings, slices and maps, but not pointers or interfaces.
//
// Package world logs input before it is applied, so that nothing is lost between
// snapshots.
//
// The examples Tour, Ants, SceneGraph, ArenaServer and Netcode are whole programs,
// in the files example_*_test.go; go doc does not print them.
//
// # Determinism
//
// The state after a flush is bit-identical for any number of workers. Queues are ordered
// by number of the pass, then chunk or task. Chunks depend only on row counts and chunk
// size. Erases are a set, creates go to shards by a fixed rule, and of several errors the
// lowest task's is returned. [Store.Digest] hashes the whole state, without pointer
// targets, for comparison after every flush.
//
// Programs must be deterministic too: draw random numbers from [Queue.Rand], sum
// floating-point numbers with [Reduce], and write only items of the task's own chunk.
//
// # Lifetimes
//
//	value                                    is valid until
//	pointer from Get, At, All, Chunk.Items   the phase ends, or an Insert, Remove, Clear, flush or sort of the table;
//	                                         in a StableTable: the item is erased, or a Load
//	element of a Column, by Get, At          the phase ends, or an Exchange of the column
//	slice from Read, Write                   the task ends
//	Chunk, GroupChunk                        the task ends
//	Groups                                   the next flush or reorder of one of its two tables
//	Queue                                    its task or call returns; of Queues: the next flush or Discard
//	pointer from Staged, EmplaceFunc         the life of its Queue ends
//	provisional handle, in commands          the batch is flushed or dropped; then it is stale
//	provisional handle, by Resolve           the next frame flushes something, or a Rollback or Load
//	Created, Erased, Written                 a later frame flushes, even nothing, or changes such a table at once
//	Receipt of Submit                        forever
//	Report of Flush                          the next flush; of Run: the next one; Report.Clone: forever
//	Writer                                   its Write or Frame ends
//	Handle                                   forever: it finds its item or nothing; issued after a Checkpoint: its Rollback
//	Checkpoint                               the next Checkpoint into it
//
// Calls of the inbox wait for the first flush of the next frame; after a failed flush,
// for the next flush.
//
// # Concurrency
//
//	call                                inside                        from
//	Get Has At All Len Resolve Find     Read, pass, Reduce, Frame,    any goroutine of that phase
//	Created Erased Written Of Member    Write, system
//	DumpTable DumpColumns
//	DigestTables
//	                                    no phase, System.If           the goroutine that flushes
//	Emplace Erase EraseAll Put Set      pass, call of the inbox       the goroutine that owns the queue
//	Staged Unset
//	                                    Store.Queues: till the flush
//	write items in place                ForEach                       the task, its own chunk
//	                                    system                        one goroutine, tables it writes, while no pass of it runs
//	                                    Frame, Write, Do              one goroutine, while no other pass or flush runs
//	write elements in place             ForEach, ForEachRows          the task, its own chunk
//	                                    system                        one goroutine, columns, sparse data and values it writes,
//	                                                                  while no pass of it runs
//	                                    Frame, Write, Do              one goroutine, while no other pass or flush runs
//	Insert Remove Clear                 Frame, Write                  one goroutine, while no pass or flush runs
//	Sparse.Put
//	ForEach Each Do GroupBy             no phase, Frame, system       one at a time
//	Groups.ForEach ForEachRows
//	EraseFunc EraseOrphans Fold
//	Exchange                            Frame, system                 one at a time
//	Reduce                              no phase, Read, task          any
//	                                    Frame, system                 one at a time
//	Digest Verify Snapshot              no phase, Read                any
//	ReadCheckpoint
//	                                    Frame                         one at a time
//	Flush Schedule.Run                  no phase, Frame               one at a time
//	Checkpoint Rollback Load            no phase, Frame               one at a time
//	SortFunc SortByKey Defragment       Frame                         one at a time
//	Frame Write Read Close Submit       no phase                      any
//	Queues Discard                      no phase, Read, Reduce        any, one after another
//	Register RegisterStable AddColumn   no phase open at all          any
//	AddSparse
//	Shuffle
//	Inbox Stats Flushed Epoch Timings   anywhere                      any
//
// A task is a call of the function of a pass or Reduce. Inside a Frame or system a second
// call marked "one at a time" is [ErrPhase]. Without a phase such calls wait for each
// other, except that a second Flush, or Run of one schedule, is [ErrPhase]. While package
// world drives the store, inbox calls and phases of others that are not shared are
// [ErrPhase] as well.
//
// "Inside" means with the context that the phase gave to its function. A call that does
// not fit there is [ErrPhase] at once; a call with another context waits at the gate,
// first come, first served. A pass inside a phase but with the outer context would
// therefore wait for itself, forever. A build with the tag handloom_check makes that
// [ErrPhase], unless the context has a deadline; detection is too slow for normal builds.
// Run a program that hangs with that tag. Functions without a context (System.If, Links,
// Clone, the comparison of a sort) must not open phases.
//
// # Failure
//
// A stale handle is data: lookups return false, commands are counted. A flush that
// exceeds a limit, or whose context ends before the commit, changes nothing and keeps the
// batch. If a task fails, the pass runs its other tasks, drops all that it recorded and
// returns the error of the lowest task. If a system fails, the frame drops the commands
// since its last flush. A panic in a task or system is returned as a [*PanicError] with
// its position; %+v prints the stack. Misuse, such as a queue or Writer kept too long,
// panics with the fix.
//
// # Observability
//
// The store has no log and no metrics; it returns values. A [Report] counts the commands
// of a flush by outcome, and Options.AfterFlush receives each report. [Store.Flushed] is
// the sum of all reports. [Store.Stats] has the sizes of all tables, for any goroutine at
// any time. All print as text and encode as JSON; the example Expvar publishes them.
//
// Package storeweb shows any store over HTTP, its items included:
//
//	mux.Handle("/debug/store/", storeweb.Handler(s))
//
// An execution trace (runtime/trace) shows regions for phases, steps of a flush and work
// per shard. Without a trace they cost a branch.
//
// Package storetest checks that a program computes the same for any number of workers,
// and finds the first difference. It compares [Store.DigestTables] after every flush on
// stores with shuffled tasks ([Store.Shuffle]), and shows items by [Store.DumpTable].
//
// # Internals
//
// Below the typed shells no item type is known: tables, queues and shards work on
// handles, rows and bytes, and are compiled once. A value passes through these files from
// Emplace to its row:
//
//	queue.go                     Table.Emplace
//	  batch/recorder.go          appends the value to the queue's buffer and names its place
//	flush.go                     Flush: gather, prepare, commit, publish
//	  batch/gather.go            joins the buffers in key order
//	flushsteps.go                plan, deal and make room; then apply
//	  batch/commands.go          finds the surviving creates
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
// # Limits
//
// A store is not an entity-component system (one struct type is one table), not a cache
// (it evicts nothing) and not a database (it writes nothing to disk). It starts no
// goroutine that outlives a call.
//
// # Sources
//
// "Game Engine Containers - handle_map" (Jeff Kiah) advises tasks with divided work
// instead of a lock in each container call. Its typeId routing, batched EmplaceItems and
// EraseItems and dense iteration are phases here.
package store
