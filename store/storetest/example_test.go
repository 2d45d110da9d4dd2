package storetest_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// A printer is a test that prints its failures.
type printer struct{ testing.TB }

func (printer) Helper()                           {}
func (printer) Context() context.Context          { return context.Background() }
func (printer) Errorf(format string, args ...any) { fmt.Printf(format, args...) }

// A real test passes its *testing.T to Run.
func ExampleRun() {
	launched := 100 // the mistake: it outlives the stores
	storetest.Run(printer{}, storetest.Options{Frames: 10}, func(s *store.Store) (func(context.Context, int) error, error) {
		ships := store.Register(s, store.TableOptions[ship]{Name: "ship"})
		return func(ctx context.Context, tick int) error {
			err := s.Do(ctx, func(q store.Queue) {
				launched++
				ships.Emplace(q, ship{Hull: launched})
			})
			if err != nil {
				return err
			}
			_, err = s.Flush(ctx)
			return err
		}, nil
	})
	// Output:
	// storetest: tick 0, flush 1: not the same with 1 worker once more as with 1 worker
	// 	table "ship", shard 0 (typeId 1)
	// 	row 0 (1:0.1): Hull is 101 with 1 worker, 102 with 1 worker once more
	// 	different: 1 worker once more; 2, 3, 7, 16, 64 workers; 1, 2, 3, 7, 16, 64 workers and shuffled tasks
	// 	equal runs differ: look for the order of a map, the clock, random numbers without a fixed seed, and values that setup does not create
}
