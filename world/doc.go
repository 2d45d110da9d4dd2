// Package world runs a program on a store in ticks that survive the process. A log holds the
// input of each tick before it is applied, for recovery, followers and replays. See
// guide/survive-a-kill.md.
//
// # Terms
//
//   - tick: one call of Options.Tick, inside one Frame.
//   - input: the calls of [World.Submit] in a tick.
//   - record: one position of the log: a tick's input, or the start or end (handoff) of a term.
//   - leader: the world that appends. The others that share the log are followers.
//   - term: the records of one leader. Terms are numbered.
//   - snapshot: a state and its position.
//   - position: the last applied record.
//
// # A tick
//
//	             leader                                     follower
//	Submit ─┐
//	Submit ─┤ seal     append          decode, apply        read   compare, decode, apply
//	Submit ─┘  │         │                 │                  │        │
//	           ▼         ▼                 ▼                  ▼        ▼
//	       ┌───────┐  ┌─────────────┐  ┌────────┐         ┌─────────────┐  ┌────────┐
//	       │ input │→ │ log         │→ │ Tick   │→ state  │ log         │→ │ Tick   │→ state
//	       └───────┘  └─────────────┘  └────────┘         └─────────────┘  └────────┘
//	                         │             │
//	                         │             └→ Submit returns, Applied, sometimes a snapshot
//	                         └→ every later state contains the tick
//
// Leader, follower and recovery run the same code on the same bytes. A leader that lost undoes
// its ticks without a record: it loads a snapshot, and Applied is called again.
//
// # The rule
//
// A tick is a function of the state and its input. Random numbers come from Tick.Seed, the
// time from Tick.Time. The tick uses no clock, no other random numbers, no order of a map, no
// Go variable of an earlier tick, no duration of a report, no Stats and no Flushed, because
// snapshots do not contain them. The number of workers has no effect.
//
// A world that breaks the rule halts with [ErrDiverged], which names tick, table and shard:
// each record has digests of the state before its tick, of about 256 KiB of shards in turn, so a
// small state is compared whole. Every shard is compared once in Options.DigestTicks, and all at the
// start and the end of a term, and after Close, before another term continues the log. To find the
// cause, use Shadow, package storetest, and [Replay]. A digest takes as long as hashing a shard.
//
// # Invariants
//
//   - W1: a tick with input is applied if and only if its record is in the log. A leader runs
//     ticks without input at once. Their number is in the next record, and other worlds run
//     them before its tick. See Options.Idle.
//   - W2: each record has the chain of all records before it, the term and the leader. A
//     record that does not follow is [ErrCorrupt].
//   - W3: a tick begins clean (no lists or names of the last frame, only its record's input)
//     and ends with a flush.
//   - W4: recovery begins with a snapshot; the first one has the state after Init.
//   - W5: a world appends only directly after the last record that it has applied.
//
// # Leaders
//
// After a failed append the outcome is unknown. The world retries the same bytes until the log
// has these or other bytes at the position. In the latter case another world leads: the calls
// are not applied, Submit returns [ErrNotLeader], and the world follows.
//
// A follower takes over after a time without records: the log's ElectionTimeout, but three ticks
// at least. If ticks take longer, the time doubles, up to 5 s. On a log with a lock, such as a
// journal, one world leads from Open on.
//
// Followers save the snapshots, because a copy of the state is a pause; the leader saves if they
// do not. A world with Options.Observe follows forever and writes nothing, such as a server for
// viewers.
//
// # Roles
//
// A World has one role. Events change it:
//
//	event                        waiting    following  starting   leading    offering   halted
//	a term's start is sealed     -          starting   -          -          starting   -
//	its term begins              -          -          leading    -          -          -
//	another's term begins        -          following  -          -          following  -
//	an append has lost           -          -          following  following  -          -
//	its handoff                  -          -          -          offering   -          -
//	a record of another version  -          waiting    -          -          waiting    -
//	a snapshot is loaded         following  following  following  following  following  -
//	an error                     halted     halted     halted     halted     halted     halted
//	Close                        closed     closed     closed     closed     closed     closed
//	a Replayer starts            -          following  -          -          -          following
//
// A starting World has appended the start of its term, and does not know the outcome. An offering
// World has handed off, and no other World has begun a term. Another event halts the World. A closed
// World stays closed.
//
// With each event the calls of a record whose outcome is unknown return, calls that no tick has
// taken return unless the new role is leading, and the election timeout begins. A World that halts
// or closes refuses all later calls.
//
// # Failure
//
// A call that does not fit a table is dropped alone, by every world alike, and its Submit
// returns [store.ErrFull]. If the tick itself then records too much, the tick fails, so
// it should not create items in a table that calls can fill.
//
// A tick that fails or panics does so on every world: all halt with [ErrTick], and Open fails in
// the same way. [SkipInput] lets the tick run without its input. Readers of a halted world
// see the state that the tick left.
//
// A damaged snapshot is skipped, and is not one of the two that the log keeps. The older one is
// verified before the log is trimmed.
//
// # Versions
//
// Records are for one version of a program. [World.Handoff] ends a term, and another version
// continues from its snapshot. A World with Options.Wait is open before that. The handoff says
// for how long worlds of the old version leave the log to the successor; each counts from the
// arrival of the record. On a log that several worlds share, after Handoff(ctx, to):
//
//	event                                  next leader                       Handoff returns
//	a World of version to waits            that World, at once               nil
//	one opens before ctx ends              that World                        nil
//	ctx ends first                         this World, in a new term         cause of ctx
//	several wait                           one of them; the others follow    nil
//	the successor dies                     another World of to, no older one nil, it led
//	this World dies                        a World of to; after the time of  -
//	                                       ctx one of the old version
//	Handoff to the same version again      -                                 as the first call
//	Handoff to another version meanwhile   -                                 ErrNotLeader
//	to is the World's own version          a follower, at once               nil
//	no snapshot can be saved               this World                        the error
//
// # Limits
//
// Applied sends the output, on every world; it is not called for a tick after which the
// process died. Acknowledged calls are never lost. Ticks of at most Options.Idle without input
// are, if the leader dies before its next record: another leader then runs ticks of the same
// numbers again, with another Seed, and perhaps with input. Output that cannot be taken back,
// such as mail, waits for the next tick that is not Outcome.Unrecorded. Readers see all ticks. One tick is in flight at a time. Changes of two stores are not atomic.
//
// # Sources
//
// LMAX and TigerBeetle log the input before they apply it. Lockstep games compare checksums.
package world
