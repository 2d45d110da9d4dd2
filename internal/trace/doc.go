// Package trace reads and checks traces: the lifetimes of the objects of a real
// program, as text, for a replay. A program prints these lines to record
// itself.
//
// # Format
//
//	handloom-trace 1
//	# anything after a hash is a comment
//	T                    end of a tick: the events since the last T are one batch
//	C <table> <key>      an item is created
//	U <table> <key>      an item changes
//	E <table> <key>      an item is erased
//
// The first line is the header; no comment precedes it. Lines end in LF,
// optional at the end of the file, and are at most [MaxLine] bytes long. Spaces
// or tabs separate the fields and may lead and trail. Blank lines count as
// lines. A file that begins with the two bytes of gzip is decompressed.
//
//	table   0..1023, decimal
//	key     0..18446744073709551615, decimal
//
// Numbers have no sign and no leading zeros, so equal events have equal text.
//
// # Lifetimes
//
//   - L1: a live key is not created again.
//   - L2: only live keys are updated or erased.
//   - L3: a key may return after its E; keys of different tables are unrelated.
//
// # Use
//
// A replay takes one batch at a time from [Ticks], which knows the format and the
// lifetimes.
package trace
