// Package model predicts what a store must answer, in two ways that share
// neither code nor idea.
//
//   - [Abstract] knows who lives, with what value. Handles are words to it,
//     which it learns from the store; it knows nothing of slots, rows, shards or
//     counters, and so would notice what a user would notice.
//   - [Exact] predicts every handle, before the store gives it: which slot and
//     generation, from the freelist or new; the order of rows, dealing over
//     shards, depletion, limits, and every counter and sample of a report.
//
// Both are written from the documents alone, for one goroutine, with plain
// slices and maps, and no thought of speed where that would cost clarity. They
// are fed what was recorded, after it was, in the order of keys.
//
// What the two share is the vocabulary in this file's neighbours: [Item],
// [Command], [Report]. A provisional handle is the one thing that nobody can
// predict, because its bits may differ from run to run; a [Command] therefore
// has, beside the handle that the store gave, the name that the program gave.
package model
