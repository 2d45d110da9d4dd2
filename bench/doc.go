// Bench measures the costs and gains of Handloom against the alternatives, side
// by side in one process.
//
//	go run ./bench               the headline cases, in less than a minute
//	go run ./bench -targets      the promised targets, and whether they hold
//	go run ./bench -h            all other flags
//
// Each layer imports only those above it:
//
//	internal/measure   runs cases in turn and keeps every sample
//	internal/suite     the cases: Handloom's containers and store, and peers
//	internal/results   output: text, and a page with charts
//	internal/targets   the contract, P1 to R10, as data
//	bench              flags, progress, exit codes
package main
