// Package schedule runs the systems of a frame in waves that are computed once. It serves
// package store, whose resources are tables.
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
// and by [System.After], which may also reverse two emitters of a resource. Each system is
// in the earliest wave that this allows. A flush precedes each wave in which a system
// touches a resource that was emitted to since the last flush, and ends the frame if
// anything was emitted since. [Schedule.End] adds a flush at the end if no other follows
// the last system that touches the resource. All of it depends on declarations and the
// order of registration, never on sizes, times or workers.
//
// So each resource changes as if the systems ran one by one in serial order with a flush
// after each, and every system sees the same data of touched resources, if flushes apply
// commands in serial order. Serial order is the order of registration, except that a system
// with After waits for the systems it names. Only the number of flushes may differ.
package schedule
