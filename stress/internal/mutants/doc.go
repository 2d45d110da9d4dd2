// Package mutants seeds faults into the module, to prove that the harness finds
// them. A fault is a patch of a few lines. Copies of the patched files contain
// the original and the patched functions, and go build -overlay uses the
// copies, so the module stays clean. One build holds many faults; an
// environment variable selects one per process.
//
//	patches ──> copies in a folder ──> go build -overlay ──> a player
//	                                                           │
//	                            HANDLOOM_FAULT=lifo ───────────┴──> the player with lifo
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
// Two kinds of lines before the files are special: "rare" means that random
// programs take minutes to find the fault; "test: PACKAGE NAME" names a test
// that finds a fault which no program can find.
package mutants
