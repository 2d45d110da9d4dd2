// Package model predicts the answers of a store, in two ways that share neither
// code nor idea.
//
//   - [Abstract] knows live items and values. It learns handles from the store
//     and knows no slots, rows, shards or counters. It finds faults that a user
//     would notice.
//   - [Exact] predicts every handle before the store issues it: slot and
//     generation, order of rows, dealing over shards, depletion, limits, and
//     every counter and sample of a report.
//
// Both follow the documentation alone, for one goroutine, with plain slices and
// maps; clarity comes before speed. They receive recorded commands in key
// order.
//
// The bits of a provisional handle differ from run to run. So a [Command] has
// the name given by the program next to the handle given by the store.
//
// # Reading order
//
//	command.go                       items, commands and reports, for both models
//	abstract.go, abstractflush.go    the whole abstract model
//	slots.go, map.go, component.go   one shard: slots, rows, columns and sparse data
//	exact.go, exactbatch.go          the exact model: tables, passes and calls
//	exactflush.go, exactset.go       the plan of a flush, with all counters
//	exactapply.go, exactdeal.go      the effect of the plan
//	changes.go, sparsechanges.go,    the lists of a frame
//	  written.go
//	checkpoint.go                    copies and rollbacks of both models
package model
