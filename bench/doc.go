// Bench measures what Handloom costs and gains against what a program would use
// in its place, side by side in one process.
//
//	go run ./bench               the headline cases, in less than a minute
//	go run ./bench -targets      what has been promised, and whether it holds
//	go run ./bench -build        what a table costs who builds a program
//	go run ./bench -h            all else
//
// The program is in layers, of which each knows those above it only:
//
//	internal/measure   runs cases in turn and keeps every sample
//	internal/suite     the cases: Handloom's containers and store, and its rivals
//	internal/results   forms of output: text, and a page with charts
//	internal/buildcost what builds of generated programs cost
//	internal/targets   the contract P1 to P38 as data
//	bench              flags, progress, exit codes
package main
