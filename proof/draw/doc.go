// Package draw makes random programs and shrinks programs that fail.
//
// A seed determines the program. Each program first draws its theme: a random
// half of the operations with random weights, sizes, hot tables, handle widths,
// and references. The steps follow the theme. Programs without some operations
// reach states that programs with all operations rarely reach: only without
// erases does a table grow to its limit. The method is swarm testing (Groce et
// al., 2012).
//
// A rough account of live items keeps most handles valid. Only the models know
// which items live.
//
// # Reading order
//
//	draw.go                       the theme and the loop over steps
//	tables.go, columns.go         tables, columns and sparse data
//	steps.go, refs.go             steps, commands and references
//	shape.go                      beginnings that random steps rarely reach
//	config.go                     configurations to run a program under
//	shrink.go, shrinknumbers.go   the search for a smaller program that fails
package draw
