// Package child plays programs in a process of its own, so that a crash, a race
// or a deadlock is a verdict and not the end.
//
//	parent                                child
//	request, a line of JSON  ── stdin ──> plays the program
//	response, a line of JSON <─ stdout ── result
//	                         <─ stderr ── what a crash or a race leaves
//
// A child ends when its standard input does, whatever it is doing then; so none
// outlives its parent, however that ends. It ends itself, after telling the
// stacks of all goroutines, when a program takes longer than it may. A program that
// has not begun by then has no result.
package child
