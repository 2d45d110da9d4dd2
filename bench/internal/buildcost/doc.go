// Package buildcost measures the build costs of tables. Go compiles generic
// code for every item type, so every program pays for a superfluous method,
// once per type.
//
// A [Source] is generated with item types of distinct shapes, because types of
// one shape share code. [Source.Measure] builds it as after an edit of one
// line, with everything else compiled. The number of functions is the same on
// every machine.
package buildcost
