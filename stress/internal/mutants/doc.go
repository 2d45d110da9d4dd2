// Package mutants puts faults into the module, to prove that the harness finds them.
// A fault is a patch of a few lines. Copies of the files that patches change hold what
// they make of them beside what was there, and go build -overlay takes those instead,
// so that nobody who reads or builds the module meets a fault. One build holds many:
// the environment says which of them a process has, if any.
//
//	patches ──> copies in a folder ──> go build -overlay ──> a player
//	                                                           │
//	                            HANDLOOM_FAULT=lifo ───────────┴──> the player with lifo
//
// # A patch
//
// It says what is wrong then, and what becomes of which lines of which file:
//
//	A copy of a map issues slots in another order.
//
//	--- internal/slotset/copy.go
//	@@
//	 	copy(dst.Words, s.Words)
//	+	dst.back = dst.front
//
// This is a unified diff without line numbers. Lines that begin with a space or
// with - must be in the file, in one piece and once; so few of them are best, or
// an edit nearby breaks the patch. A file may have several places, each behind a
// line @@, and a patch several files. It changes the bodies of functions and nothing
// else: of a function, a copy holds both bodies, behind a switch.
//
// Two kinds of lines are no part of the sentence: "rare" says that programs drawn
// at random take minutes to find the fault, and "test: PACKAGE NAME" that no program
// can, but a test does.
package mutants
