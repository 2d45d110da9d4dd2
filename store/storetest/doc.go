// Package storetest tests whether a program on a store computes the same state with any number
// of workers, and reports the first difference. See guide/determinism.md.
//
// A store is deterministic, but tasks may not be: a slice that tasks append to, a shared
// counter, chunks cut by the number of workers, the order of a map. A test finds such mistakes:
//
//	func TestGameIsDeterministic(t *testing.T) {
//		storetest.Run(t, storetest.Options{Frames: 100}, func(s *store.Store) (func(context.Context, int) error, error) {
//			g, err := newGame(s)
//			return g.frame, err
//		})
//	}
//
// [Reopen] tests whether such a program can be saved and loaded.
//
// # Runs
//
// [Run] runs each frame on one store after the other. The runs are:
//
//   - one with the first number of workers, the reference;
//   - the same again, which finds differences between equal runs;
//   - one for each other number of workers;
//   - one for each number of workers in a team and with shuffled tasks ([store.Store.Shuffle]),
//     which finds dependence on the order of tasks.
//
// # Comparison
//
// After every flush with commands Run compares its report and the digest of each shard, and at
// the end of every frame the digests and the error. The message names tick, flush, runs, table
// and shard, the first row, handle and field that differ, and a likely cause:
//
//	storetest: tick 2, flush 1: not the same with 1 worker and shuffled tasks as with 1 worker
//		table "ship", shard 0 (typeId 1), and 2 more shards
//		row 10 (1:10.1): Hull is 0 with 1 worker, 5 with 1 worker and shuffled tasks
//		the same: 1 worker once more; 2, 3, 7, 16, 64 workers
//		different: 1, 2, 3, 7, 16, 64 workers and shuffled tasks
//		the order of tasks matters: look for values shared by tasks of one pass, such as a slice, a counter, ...
//
// As in [store.Store.Digest], targets of pointers, functions, channels and fields named _ are
// not compared.
package storetest
