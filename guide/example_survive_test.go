package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"handloom/journal"
	"handloom/store"
	"handloom/store/storeweb"
	"handloom/world"
)

// region open

// openField opens a world of drifting asteroids on the log l.
func openField(ctx context.Context, l world.Log, program string) (*world.World, *store.Table[Asteroid], error) {
	s := store.New(store.Options{})
	asteroids := store.Register(s, store.TableOptions[Asteroid]{Name: "asteroid"})
	w, err := world.Open(ctx, s, l, world.Options{
		Version: program, Hz: 60,
		Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			if _, err := s.Flush(ctx); err != nil { // the input
				return err
			}
			return asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
				for i := range c.Items {
					c.Items[i].X += c.Items[i].VX
				}
			})
		},
	})
	return w, asteroids, err
}

// endregion

// A killed program continues from its log.
func Example_survive() {
	folder, err := os.MkdirTemp("", "handloom")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	ctx := context.Background()

	// region journal
	log, err := journal.Open(folder, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, asteroids, err := openField(ctx, log, "asteroids 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error)
	go func() { ended <- w.Run(running) }()
	// endregion

	// region submit
	var name store.Handle[Asteroid]
	receipt, err := w.Submit(ctx, func(q store.Queue) error {
		name = asteroids.Emplace(q, Asteroid{VX: 5, Size: 2})
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, ok := store.Resolved(receipt, name)
	fmt.Println(h, ok)
	// endregion

	stop()
	fmt.Println(errors.Is(<-ended, context.Canceled))
	fmt.Println(log.Close()) // a crash: the world is not closed and saves nothing

	// region again
	log, err = journal.Open(folder, journal.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	w, asteroids, err = openField(ctx, log, "asteroids 1") // replays the log
	if err != nil {
		fmt.Println(err)
		return
	}
	// endregion
	err = w.Read(ctx, func(_ context.Context, t world.Tick) error {
		fmt.Println("as far as the answer:", t.Number >= receipt.Tick())
		fmt.Println("it is there:", asteroids.At(h).VX)
		return nil
	})
	fmt.Println(err)

	// region figures
	mux := http.NewServeMux()
	mux.Handle("GET /status", storeweb.Status("Asteroids", func() any { return w.Status() }))
	// endregion
	page := httptest.NewRecorder()
	mux.ServeHTTP(page, httptest.NewRequest("GET", "/status?format=json", nil))
	var status world.Status
	fmt.Println("status:", json.Unmarshal(page.Body.Bytes(), &status), status.Leader, status.Tick >= receipt.Tick())

	// region version
	if err := errors.Join(w.Handoff(ctx, "asteroids 2"), w.Close(ctx)); err != nil {
		fmt.Println(err)
		return
	}
	// endregion
	w, asteroids, err = openField(ctx, log, "asteroids 2")
	if err != nil {
		fmt.Println(err)
		return
	}
	err = w.Read(ctx, func(_ context.Context, t world.Tick) error {
		fmt.Println("the new version has it:", asteroids.At(h).VX, t.Number == status.Tick)
		return nil
	})
	fmt.Println(err, w.Close(ctx))

	_, _, err = openField(ctx, log, "asteroids 1")
	fmt.Println("the old one is refused:", errors.Is(err, world.ErrVersion))

	// If no program can continue the log, its newest snapshot begins a new log.
	saved, err := log.Snapshots(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(log.Close())
	s, asteroids := newField(0)
	// region begin
	snapshot := filepath.Join(folder, fmt.Sprintf("%016x.snap", saved[0]))
	fmt.Println(load(ctx, s, snapshot)) // load is on the page "Save and load"
	// endregion
	fmt.Println(asteroids.Len(), asteroids.At(h).VX)

	// Output:
	// 1:0.1 true
	// true
	// <nil>
	// as far as the answer: true
	// it is there: 5
	// <nil>
	// status: <nil> true true
	// the new version has it: 5 true
	// <nil> <nil>
	// the old one is refused: true
	// <nil>
	// <nil>
	// 1 5
}
