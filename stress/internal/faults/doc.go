// Package faults puts faults into the module, one at a time, to prove that the
// harness finds them. A fault is a patch of a few lines; it is applied to copies of
// the files that it changes, and go build -overlay takes those instead, so that
// nobody who reads or builds the module meets one.
//
//	patch ──> copies in a folder ──> go build -overlay ──> a player with the fault
//
// # A patch
//
// It says what is wrong then, and what becomes of which lines of which file:
//
//	A copy of a map issues slots in another order.
//
//	--- internal/sparse/copy.go
//	@@
//	 	copy(dst.Words, s.Words)
//	+	dst.back = dst.front
//
// This is a unified diff without line numbers. Lines that begin with a space or
// with - must be in the file, in one piece and once; so few of them are best, or
// an edit nearby breaks the patch. A file may have several places, each behind a
// line @@, and a patch several files.
//
// Two kinds of lines are no part of the sentence: "rare" says that programs drawn
// at random take minutes to find the fault, and "test: PACKAGE NAME" that no program
// can, but a test does.
package faults
