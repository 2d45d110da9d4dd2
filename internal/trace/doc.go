// Package trace reads and checks traces: the lifetimes of the objects of a real
// program, as text, for a replay. A program records itself by printing these lines.
//
// # The format
//
//	handloom-trace 1
//	# anything after a hash is a comment
//	T                    end of a tick: what came since the last one is one batch
//	C <table> <key>      an item appears
//	U <table> <key>      it changes
//	E <table> <key>      it disappears
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
//
// A replay takes one batch at a time from [Reader.Ticks], gives it to
// [Checker.CheckBatch], and records it only when both said nothing. Every fault
// of either is an [*Error] that names file and line. It is final: the same
// error comes again from every later call, so nothing is replayed after it.
//
// The package holds no items, keeps no handles and starts no goroutines. A
// Reader or Checker belongs to one goroutine at a time.
package trace
