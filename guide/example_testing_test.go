package main_test

import (
	"context"
	"testing"

	"handloom/journal"
	"handloom/store"
)

// region rule

func TestTimer_RingsOnce(t *testing.T) {
	ctx := t.Context()
	h := newHarbour(store.New(store.Options{}))
	var ship store.Handle[Ship]
	if err := h.store.Write(ctx, func(w *store.Writer) {
		ship = h.ships.Insert(w, Ship{})
		h.timers.Insert(w, Timer{Due: 2, Ship: ship})
	}); err != nil {
		t.Fatal(err)
	}
	for tick, want := range []int{0, 1, 1} {
		if _, err := h.frame.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if got := h.ships.At(ship).Energy; got != want {
			t.Errorf("energy after tick %d: got %d, want %d", tick, got, want)
		}
	}
	if err := h.store.Verify(ctx); err != nil {
		t.Error(err)
	}
}

// endregion

// region restart

func TestField_ContinuesAfterKill(t *testing.T) {
	ctx, folder := t.Context(), t.TempDir()
	for want := 1; want <= 3; want++ {
		log, err := journal.Open(folder, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w, asteroids, err := openField(ctx, log, "test")
		if err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(ctx)
		ended := make(chan error)
		go func() { ended <- w.Run(running) }()
		if _, err = w.Submit(ctx, func(q store.Queue) error {
			asteroids.Emplace(q, Asteroid{})
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		stop()
		<-ended
		if got := asteroids.Len(); got != want {
			t.Errorf("asteroids after %d processes: got %d, want %d", want, got, want)
		}
		if err := log.Close(); err != nil { // a kill: the world is not closed and saves nothing
			t.Fatal(err)
		}
	}
}

// endregion
