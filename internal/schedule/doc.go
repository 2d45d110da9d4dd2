// Package schedule runs the systems of a frame, those that do not conflict at the
// same time, in waves that are computed once. It serves package store, whose
// resources are tables.
//
// # Terms
//
//   - A system is a step of a frame that says what it reads, writes and emits.
//   - A wave is a set of systems that do not conflict and run as one phase of package
//     tasks.
//
// # Waves and flushes
//
// To read or write a resource is to touch it; to emit to it is to record
// commands that the next flush applies. Of two systems the one registered later
// is
//
//	earlier   later    the later one runs
//	writes    touches  in a later wave
//	reads     writes   in a later wave
//	emits     touches  in a later wave, behind a flush
//	touches   emits    beside it or later: an earlier flush would apply its commands too early
//	emits     emits    beside it or later: an earlier flush would apply its commands first
//
// and [System.After] adds pairs of its own; of two systems that only emit to a
// resource, it may make the one registered first the later one. Each system is in
// the earliest wave that this allows. A flush is placed before each wave in which a
// system touches what an earlier wave has emitted since the flush before, and at
// the end if anything was emitted after the last. Emitting alone asks for no flush.
// [Schedule.End] adds one at the end, if no other follows the last system that touches the
// resource.
// All of it depends on what systems declare and on the order of registration, never
// on sizes, times or workers.
//
// So of each resource, what systems do to it at once and what flushes apply to it
// come in one order, that of the systems running one by one in serial order with a
// flush after each: the order of registration, except that a system with After
// waits for those it names. And every system sees of what it touches what it would
// see then. For that a flush has to apply commands in serial order, too. How many
// flushes there are, and what is applied by which, is not the same.
package schedule
