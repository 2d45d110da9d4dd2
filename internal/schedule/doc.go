// Package schedule runs the systems of a frame in waves that are computed once. Systems of
// a wave do not conflict and run at the same time. It serves package store, whose resources
// are tables.
//
// # Terms
//
//   - system: a step of a frame that declares what it reads, writes and emits.
//   - wave: a set of systems without conflicts that run as one phase of package tasks.
//   - to touch a resource: to read or write it.
//   - to emit to a resource: to record commands that the next flush applies.
//
// # Waves and flushes
//
// Two systems, the earlier one registered first, are ordered by
//
//	earlier   later    the later one runs
//	writes    touches  in a later wave
//	reads     writes   in a later wave
//	emits     touches  in a later wave, after a flush
//	touches   emits    in the same wave or later: an earlier flush would apply its commands too early
//	emits     emits    in the same wave or later: an earlier flush would apply its commands first
//
// and by [System.After]. If two systems only emit to a resource, After may make the one
// registered first the later one. Each system is in the earliest wave that this allows. A
// flush precedes each wave in which a system touches a resource that an earlier wave has
// emitted to since the last flush, and ends the frame if anything was emitted since.
// Emitting alone needs no flush. [Schedule.End] adds a flush at the end if no other follows
// the last system that touches the resource. All of it depends on declarations and the
// order of registration, never on sizes, times or workers.
//
// So direct changes and flushed commands reach each resource in one order: as if the
// systems ran one by one in serial order with a flush after each. Serial order is the order
// of registration, except that a system with After waits for the systems it names. Every
// system sees the same data of touched resources as in serial order, if flushes apply
// commands in serial order. The number of flushes, and which flush applies a command, may
// differ.
package schedule
