// Package goalloc makes a trace of the object lifetimes of a real Go program:
// its heap objects and its goroutines, as the execution tracer saw them.
//
// # How to take one
//
//	GODEBUG=traceallocfree=1 go test -trace out.trace ./pkg
//	go tool trace -d=parsed out.trace > out.parsed
//	go tool trace -d=wire out.trace > out.wire          (for the names of types)
//
// [Convert] reads the first text, [ReadTypeNames] the second. Text of about
// 100 bytes comes for each event, so one second of a busy program is hundreds
// of megabytes; a short test is enough.
//
// # What is in the text
//
// One line for each event, and below some of them a call stack, which is
// skipped:
//
//	M=42 P=0 G=1 Experimental Time=1037353213760 Name=HeapObjectAlloc Args=[id=Value{Uint64(303119)}, type=Value{Uint64(12)}]
//	M=42 P=0 G=1 StateTransition Time=1037353217280 GoID=7 NotExist->Runnable Reason=""
//
// An object's id is its address: the distance from the bottom of the heap in
// steps of 8 bytes. The address of a freed object returns. A free names the
// slot of the allocator, and ends everything in it; slots are told from the
// Span events. A type is a number
// alone, 0 for memory without one (bytes of strings and the like), and every
// generation of the trace, about a second, numbers its types anew; a Sync
// event begins a generation. Only the wire text has the types' addresses and
// names. With it, [Convert] knows a type again in the next generation; without
// it, "type 12 of generation 1" and "type 7 of generation 2" are two types.
//
// # What becomes of it
//
//	HeapObject (existed when the trace began)      C in the first tick
//	HeapObjectAlloc, HeapObjectFree                C, E in the table of the type
//	goroutine created; was there at the beginning  C in table 0
//	goroutine changes state, ends                  U, E in table 0
//	a millisecond of trace time passes             T
//
// Tables from 1 on are the types, those with most events first; of equal ones
// the first by name, then by appearance. The types beyond the last table share
// it. A comment names each table. The key of a goroutine is its id. The key of
// an object is the smallest number that no live object of its table has, from
// 0 on: addresses say nothing to a replay, and small numbers that return
// compress to a fraction. The same text gives the same trace, byte for byte.
//
// # What is never wrong
//
// The trace keeps the rules of a lifetime (package trace, L1, L2) whatever
// the text says. The tracer loses and reorders events, so:
//
//	an address is allocated while alive      E, then C: its free was lost, or
//	                                         two tiny objects share 8 bytes
//	a goroutine is created while alive       likewise
//	an address is freed that is not alive    skipped and counted
//	a goroutine ends that is not alive       skipped and counted
//	a goroutine changes that is not alive    it existed before: C
//	HeapObject of an address that is alive   skipped and counted
//	time goes back                           counted; the tick stays, ticks never go back
//
// Text that is not what go tool trace prints is an error that names the line.
package goalloc
