// Package script is the text form of test programs for a store: one operation per line,
// with symbolic names. A failing program can be read, reduced line by line, kept and
// replayed.
//
//	handloom-stress 1
//	seed 42
//	narrow generations=7 slots=16
//	table t0 packed rich shards=4 chunk=16
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
// The first line names the format. Settings follow, one per line, then "do" and the
// operations. The word # begins a comment; digits after # make it a reference (see below).
// Empty lines are skipped.
//
//	seed N               seed of the program
//	revision WORD        revision of the code that drew it
//	narrow ...           narrower handle fields: last generation, slots
//	store ...            options of the store
//	table NAME packed|stable ITEM ...
//	config ...           a configuration to run it under; see [Config]
//
// The body of an operation follows it. Lines of a pass begin with @ and the number of their
// task. A write ends at "end". [Ops] lists the operations and their operands.
//
// Columns and sparse components of a table are numbered from 0 in the order of their lines.
// The arguments c and d select among the components that fit the operation, modulo their
// count. The last argument of foreach selects one, plus 1; 0 selects none. An operation
// without a fitting component does nothing.
//
// # References
//
//	%12          the item created under the name %12: its handle, or its
//	             provisional handle until the flush
//	%12*64       64 handles, from %12 on
//	~12          its provisional handle, also after the flush
//	.5           the 6th item of the task's own chunk, if any
//	#1f00000000  a handle by its bits; #0 is the null handle
//
// A suffix forges a handle from any of them:
//
//	+g -g        the next and the previous generation
//	+s           the next slot
//	^N           bit N flipped
//	@t1          the first typeId of another table
//
// A name not yet bound is the null handle, so a program stays valid when lines are removed.
//
// # Limits
//
// The package parses lines; it does not execute them.
//
// # Reading order
//
//	script.go, settings.go, ref.go   the program and its parts
//	op.go                            the operations and their syntax
//	parse.go, parsestep.go           from text
//	print.go                         to text
package script
