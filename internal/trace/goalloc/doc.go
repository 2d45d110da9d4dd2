// Package goalloc makes a trace of the object lifetimes of a real Go program:
// its heap objects and its goroutines, as the execution tracer saw them.
//
// # Taking an execution trace
//
//	GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg
//
// golang.org/x/exp/trace reads the file. One second of a busy program is tens
// of megabytes; a short test is enough.
//
// # Mapping
//
//	heap object, existing at the beginning        C in the first tick
//	heap object, allocated or freed               C, E in the table of its type
//	goroutine, created or existing                C in table 0
//	goroutine, changes state or ends              U, E in table 0
//	a millisecond of trace time                   T
//
// Types are numbered from table 1 on, types with most events first; of equal
// ones the first by name. The types beyond the last table share it. A comment
// names each table. A key is the smallest number that no live item of its table
// has: small numbers that return compress to a fraction. The same input results
// in the same trace, byte for byte.
//
// The id of an object is its address. A free names the slot of the allocator
// and ends every object in the slot; Span events describe the slots.
//
// # Repairs
//
// The trace keeps the rules of a lifetime (package trace, L1, L2) for every
// input. The tracer loses events, so:
//
//	creation of a live item        E, then C: its end was lost, or two tiny
//	                               objects share 8 bytes
//	end of an unknown item         skipped and counted
//	change of an unknown goroutine C: it existed before
//	listing of a live object       ignored
package goalloc
