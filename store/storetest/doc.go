// Package storetest finds out whether a program on a store computes the same for
// any number of workers and, if it does not, says where it first went another way.
// The guide's page is guide/determinism.md.
//
// A store is deterministic; what tasks do is up to the program. A slice that tasks
// append to, a counter that hands out numbers, chunks cut by the number of
// workers, the order of a map: each makes runs differ, and mostly on somebody
// else's machine. A test that runs the program here finds it:
//
//	func TestGameIsDeterministic(t *testing.T) {
//		storetest.Run(t, storetest.Options{Frames: 100}, func(s *store.Store) (func(context.Context, int) error, error) {
//			g, err := newGame(s)
//			return g.frame, err
//		})
//	}
//
// [Reopen] finds out whether such a program can be saved and loaded.
//
// # What is run
//
// [Run] makes a fresh store for every run and plays one frame after another on all
// of them, so that at most one frame runs at any time. The runs are:
//
//   - one with the first number of workers, with which all others are compared;
//   - the same once more, which finds what differs even between equal runs;
//   - one for each other number of workers;
//   - one for each number of workers inside a team and with shuffled tasks
//     ([store.Store.Shuffle]), which finds what depends on the order of tasks also
//     where there is only one processor.
//
// # What is compared
//
// After every flush with commands its report, and the digest of each shard; at the
// end of every frame the digests again, and whether it failed. The message names
// tick, flush, runs, table and shard, then the first row, handle and field that
// differ, and what to look for:
//
//	storetest: tick 2, flush 1: not the same with 1 worker and shuffled tasks as with 1 worker
//		table "ship", shard 0 (typeId 1), and 2 more shards
//		row 10 (1:10.1): Hull is 0 with 1 worker, 5 with 1 worker and shuffled tasks
//		the same: 1 worker once more; 2, 3, 7, 16, 64 workers
//		different: 1, 2, 3, 7, 16, 64 workers and shuffled tasks
//		the order of tasks matters: look for what tasks of one pass share, such as a slice, a counter, ...
//
// What lies behind pointers, functions and channels, and fields named _, is no part
// of a digest, and not compared; see [store.Store.Digest].
package storetest
