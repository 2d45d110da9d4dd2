// Package world plays a program on a store in ticks that outlive the process: what each
// tick is given is in a log before it is applied, so that the state can be recovered,
// followed by others and played again. The guide's page is guide/survive-a-kill.md.
//
// # Terms
//
//   - tick: one call of Options.Tick, inside one Write.
//   - input: the calls of [World.Submit] that a tick is given.
//   - record: what one position of the log holds: the input of a tick, or that an owner
//     begins (epoch) or ends (handoff) its term.
//   - owner: the world that appends. All others that share the log follow.
//   - term: what one owner appends. They have numbers.
//   - snapshot: a state, and how far along the log it is.
//   - head: how far along the log a world has come.
//
// # A tick
//
//	             owner                                      follower
//	Submit ─┐
//	Submit ─┤ seal     append          decode, apply        read   compare, decode, apply
//	Submit ─┘  │         │                 │                  │        │
//	           ▼         ▼                 ▼                  ▼        ▼
//	       ┌───────┐  ┌─────────────┐  ┌────────┐         ┌─────────────┐  ┌────────┐
//	       │ input │→ │ log         │→ │ Tick   │→ state  │ log         │→ │ Tick   │→ state
//	       └───────┘  └─────────────┘  └────────┘         └─────────────┘  └────────┘
//	                         │             │
//	                         │             └→ Submit returns, Applied, now and then a snapshot
//	                         └→ from here on the tick is in every later state
//
// The log holds what goes in, not what comes out, and a tick is applied when its record
// is in the log. Owner, follower and recovery run the same code on the same bytes. So
// there is nothing to take back when an owner finds that another one was faster.
//
// # The rule
//
// A tick is a function of the state and its input. It draws from Tick.Seed and tells the
// time by Tick.Time, and looks at no clock, no other random numbers, no order of a map,
// no Go variable that a tick before wrote. It reads neither the durations of a report, nor
// Stats, nor Flushed: no snapshot has them. Lists of changes (Created, Erased,
// Written) are empty when it begins. It flushes what it records. Package store sees to the
// rest: any number of workers comes to the same state.
//
// Whoever breaks the rule is told: each record has the digest of some shards behind the
// tick before, so that every shard is compared once in Options.DigestTicks, and a
// world whose state is another one halts with [ErrDiverged], which names tick, table
// and shard. An epoch has the digests of all shards. Shadow finds it on one machine,
// package storetest in a test, and [Replay] where it began. A digest takes the time that
// hashing the largest shard does; more shards make it shorter.
//
// # Invariants
//
//   - W1: a tick is applied if its record is in the log, and never otherwise.
//   - W2: each record names the chain of all before it, the term and the owner. A record
//     that does not follow is [ErrCorrupt].
//   - W3: a tick begins clean (no lists or names of the frame before, no input but its
//     record's) and ends clean (no command waits).
//   - W4: recovery begins with a snapshot, that of what Init made if there is no other.
//   - W5: a world appends behind the last record that it has applied, or not at all.
//
// # Owners
//
// An append whose answer is lost leaves open whether the record is in the log. The
// world appends the same bytes in the same place until they are there or others are.
// In the latter case another world owns the log: the calls were not applied, which
// Submit says, and the world follows. An owner that was paused, or cut off, and goes on
// ends in this way; nothing of what it sealed was applied anywhere.
//
// A follower that has applied everything takes over when there was no record for as
// long as the log's ElectionTimeout, and for three ticks, and the log answers that there is none
// to come. When terms follow each other fast, because ticks take longer than that, it
// waits twice as long, up to 5 s. On a log with a lock, as a journal is, there is one
// world, which owns it from Open on.
//
// A world with Options.Observe follows for as long as it is open. It appends, saves and
// trims nothing, so a server for viewers, or a machine that is too slow to own the log, has
// no effect on the others. If it diverges, it halts alone.
//
// Followers save the snapshots, for copying the state is a pause, and the owner does when
// none of them has.
//
// # Failure
//
// A call that does not fit a table is dropped alone, by every world alike: that is a
// function of the state and of the input. Its Submit returns [store.ErrFull], and the tick
// goes on. A tick that then records more than fits fails for its own reason, so it should
// not create items in a table that calls can fill.
//
// A tick that fails or panics does so on every world, so that no other one helps: all
// halt with [ErrTick], its record stays, and Open comes to the same end. [SkipInput] lets
// the tick be played without its input. Readers of a world that has halted see what the
// tick left.
//
// Records are not for another program. A new version takes over from the old one by
// [World.Handoff], which ends with a snapshot; so does Close. A snapshot of which a byte is
// wrong is passed over for the one before it, and is not one of the two that the log keeps.
// The older of the two is read before the log in front of it is trimmed.
//
// # What it does not do
//
// It sends nothing: what goes out is sent by Applied, which is called on every world, and
// not at all for a tick behind which the process died. It keeps no log of its own, has
// one tick in flight, and makes no two stores change at once.
//
// # Sources
//
// Logging the input before it is applied is what LMAX and TigerBeetle do, and what
// lockstep games compare checksums of.
package world
