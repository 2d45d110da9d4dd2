// Package batch says what became of recorded commands, to users of package store:
// the counts and stale commands of a [handloom/store.Report].
// The guide's page is guide/flush.md.
//
// A batch is every queue recorded since the last flush. Its commands are creates,
// erases and puts, and wait until a flush applies them all at once. Package store
// has these types under the same names; the machinery that records is
// internal/record.
//
// # Invariants
//
//	B1  every command of a batch is in exactly one of the first eight [Counts]
package batch
