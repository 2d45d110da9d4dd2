package world

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/entrance"
	"handloom/store"
)

func TestStatus_DamageIsListedOnce(t *testing.T) {
	w := new(World)
	for range 3 {
		w.notePassed(7, fmt.Errorf("%w: first", errDamaged))
		w.notePassed(9, errDamaged)
	}
	if n := len(w.stats.damaged); n != 2 || w.stats.badSnapshots != 6 {
		t.Errorf("%d damaged snapshots, %d unreadable ones; want 2, 6", n, w.stats.badSnapshots)
	}
}

// A sealing claim counts calls of Seal.
type sealing struct {
	entrance.Claim[store.Queue, *store.Receipt, *store.Writer]
	seals int
}

func (c *sealing) Seal(b []byte, maxBytes int) ([]byte, entrance.Calls) {
	c.seals++
	return c.Claim.Seal(b, maxBytes)
}

func TestRun_HeartbeatSealsNoTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.New(store.Options{Workers: 1})
		items := store.Register(s, store.TableOptions[int]{Name: "item"})
		w, err := Open(t.Context(), s, Memory(), Options{Tick: func(context.Context, *store.Writer, Tick) error { return nil }})
		noError(t, err)
		c := &sealing{Claim: w.exclusive}
		w.exclusive = c
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(30 * time.Second)
		_, err = w.Submit(ctx, func(q store.Queue) error {
			items.Emplace(q, 1)
			return nil
		})
		noError(t, err)
		<-done
		if n := w.Status().Position; n < 500 || c.seals > 3 {
			t.Errorf("%d seals for %d records, want 3", c.seals, n)
		}
		noError(t, w.Close(t.Context()))
	})
}
