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
package draw
