// Package buildcost measures what the tables of a program cost who builds it. Go
// compiles generic code once more for every item type, so a method too many in a
// table is paid by every program, for each of its types.
//
// A [Source] is generated, with item types of distinct shapes: types that differ
// in nothing but their names share compiled code. [Source.Measure] builds it with
// everything else compiled already, as after an edit of one line. How many
// functions were compiled is the same on every machine.
package buildcost
