package main_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"handloom/store"
	"handloom/store/storeweb"
)

// Figures and options of a table.
func Example_size() {
	s := store.New(store.Options{})
	// region options
	asteroids := store.Register(s, store.TableOptions[Asteroid]{
		Name:     "asteroid",
		Shards:   4,      // a flush changes four shards in parallel
		Reserve:  1_000,  // memory allocated before the first item
		MaxItems: 10_000, // more are ErrFull
	})
	// endregion

	ctx := context.Background()
	_ = s.Do(ctx, func(q store.Queue) { asteroids.EmplaceItems(q, make([]Asteroid, 9_000), nil) })
	_, _ = s.Flush(ctx)
	_ = store.EraseFunc(ctx, asteroids, func(*Asteroid) bool { return true })
	_, _ = s.Flush(ctx)
	// region shrink
	_, err := s.Flush(ctx)
	err = errors.Join(err, s.Shrink(ctx))
	for _, t := range s.Stats() {
		fmt.Println(t.Name, "has", t.Live, "items,", t.Slots, "slots and", t.Bytes, "bytes")
	}
	// endregion

	// region heavy
	type Agent struct{ Plan [16]int }
	agents := store.Register(s, store.TableOptions[Agent]{Name: "agent", ChunkItems: 1})
	// endregion
	fmt.Println(asteroids.Name(), agents.Name(), err)
	// Output:
	// asteroid has 0 items, 9000 slots and 136000 bytes
	// asteroid agent <nil>
}

// Times of a frame.
func Example_profile() {
	var log io.Writer = io.Discard
	// region after
	s := store.New(store.Options{
		AfterFlush: func(r *store.Report) {
			fmt.Fprintln(log, r, "planned in", r.Plan, "applied in", r.Apply)
		},
	})
	// endregion
	asteroids := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid"})
	nothing := func(context.Context) error { return nil }
	// region explain
	type on = []store.Resource
	frame := store.NewSchedule(
		s,
		store.System{Name: "aim", Reads: on{asteroids}, Run: nothing},
		store.System{Name: "count", Reads: on{asteroids}, Run: nothing},
		store.System{Name: "drift", Writes: on{asteroids}, Emits: on{asteroids}, Run: nothing},
		store.System{Name: "draw", Reads: on{asteroids}, Run: nothing},
	)
	fmt.Print(frame.Explain())
	// endregion
	// region timings
	if _, err := frame.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	fmt.Fprintln(log, frame.Timings())
	// endregion
	// region web
	mux := http.NewServeMux()
	mux.Handle("/debug/store/", storeweb.Handler(s, frame))
	// endregion

	// Output:
	// wave 1
	//   aim
	//   count
	// wave 2
	//   drift
	//     writes asteroid, which aim reads
	//     writes asteroid, which count reads
	// flush
	//     draw reads asteroid, which drift emits
	// wave 3
	//   draw
	//     reads asteroid, which drift writes
}
