// Package mutants seeds faults into the module, to prove that the harness finds
// them. A fault is a patch of a few lines. Copies of the patched files contain
// the original and the patched functions, and go test -overlay uses the
// copies, so the module stays clean. One build holds many faults; an
// environment variable selects one per process.
//
//	patches ──> copies in a folder ──> go test -c -overlay ──> a test binary
//	                                                            │
//	                             HANDLOOM_FAULT=lifo ───────────┴──> a test that fails
//
// # Patches
//
// A patch describes the fault and changes lines of files:
//
//	A copy of a map issues slots in another order.
//
//	--- internal/slotset/copy.go
//	@@
//	 	copy(dst.Words, s.Words)
//	+	dst.back = dst.front
//
// It is a unified diff without line numbers. Lines that begin with a space or -
// must occur in the file exactly once, in one piece. Fewer lines survive more
// edits nearby. A file may have several places, each after a line @@, and a
// patch several files. It changes only bodies of functions.
//
// A line "test: PACKAGE NAME" before the files names the test that finds the
// fault, if random programs take minutes or cannot find it.
package mutants
