// Package script is the text form of what the harness does to a store: one
// operation per line, with symbolic names, so that a failing program can be read,
// cut down line by line, kept and replayed.
//
//	handloom-stress 1
//	seed 42
//	narrow generations=7 slots=16
//	table t0 packed linked shards=4 chunk=16
//	config workers=4 procs=2 shuffle=9
//	do
//	write
//	  insert t0 %1 v=17
//	end
//	each tasks=2
//	  @0 emplace t0 %2 v=5 %1
//	  @0 put t0 %2 v=6 s=90 %2
//	  @1 erase t0 %1
//	flush
//
// # Lines
//
// The first line names the format. Then come settings, a line each; behind "do"
// come the operations. Text behind a # that begins a word is a comment, and
// empty lines are nothing, but a reference may begin with # (see below).
//
//	seed N               what the program was drawn from
//	revision WORD        the code that drew it
//	narrow ...           narrower handle fields: last generation, slots
//	store ...            options of the store
//	table NAME packed|stable ITEM ...
//	config ...           a configuration to run it under; see [Config]
//
// An operation that has a body is followed by the lines of it: those of a pass
// begin with @ and the number of their task; those of a write end at "end".
// [Ops] lists the operations with what each takes.
//
// Columns and optional data of a table have numbers, from 0, in the order of their lines:
// c and d are such numbers among those that the operation can be about, modulo how many
// there are then, and beside is one more than one. An operation on what a table has not
// does nothing.
//
// # References
//
//	%12          the item that the operation with the name %12 made: its handle,
//	             or its provisional handle until the flush
//	%12*64       64 of them, from %12 on
//	~12          its provisional handle, also after the flush
//	.5           the 6th item of the task's own chunk, or nothing
//	#1f00000000  a handle by its bits; #0 is the null handle
//
// and, behind any of them, what makes a forged handle of it:
//
//	+g -g        the next and the previous generation
//	+s           the next slot
//	^N           bit N flipped
//	@t1          the first typeId of another table
//
// A name that nothing made, or not yet where it is used, is the null handle; so
// lines can be taken away and the rest still means something.
//
// # What it does not do
//
// The package knows what a line says and nothing of what it does.
package script
