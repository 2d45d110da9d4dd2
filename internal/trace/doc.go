// Package trace reads, checks and writes traces: the lifetimes of the objects of a
// real program, as text, for a replay. It also makes them of execution traces of Go.
//
// # The format
//
//	handloom-trace 1
//	# anything after a hash is a comment
//	T                    end of a tick: what came since the last one is one batch
//	C <table> <key>      an item appears
//	U <table> <key>      it changes
//	E <table> <key>      it disappears
//	# table 7: ship      what the items of a table are; for people
//
// The first line is the header, and no comment comes before it. Lines end in
// LF, the last one may go without, and none is longer than [MaxLine] bytes. One
// or more spaces or tabs part the fields; they may also lead and trail. Blank
// lines count as lines and mean nothing. A file that begins with the two bytes
// of gzip is decompressed as it is read.
//
//	table   0..1023, decimal
//	key     0..18446744073709551615, decimal
//
// Numbers have no sign and no leading zeros: one key has one spelling, so that
// two traces are the same text when they are the same events.
//
// # The rules of a lifetime
//
// L1: a key that is alive in its table is not created again.
// L2: what is updated or erased is alive.
// L3: a key may return after its E, and keys of two tables have nothing to do
// with each other.
//
// # Who does what
//
//	Reader    bytes to events; knows the format, not the lifetimes
//	Checker   events to a verdict; knows the lifetimes, not the text
//	Writer    events to bytes, which Reader gives back as the same events
//
// A replay takes one batch at a time from [Reader.ReadTick], gives it to
// [Checker.CheckBatch], and records it only when both said nothing. Every fault
// of either is an [*Error] that names file and line. It is final: the same
// error comes again from every later call, so nothing is replayed after it.
//
// The package holds no items, keeps no handles and starts no goroutines. A
// Reader, Checker or Writer belongs to one goroutine at a time.
//
// # Traces of Go programs
//
// [Convert] makes a trace of the heap objects and the goroutines in an execution trace:
//
//	GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg
//
// One second of a busy program is tens of megabytes; a short test is enough.
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
// The result keeps the rules L1 and L2 for every input. The tracer loses events, so:
//
//	creation of a live item        E, then C: its end was lost, or two tiny
//	                               objects share 8 bytes
//	end of an unknown item         skipped and counted
//	change of an unknown goroutine C: it existed before
//	listing of a live object       ignored
package trace
