package main_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// Timers ring at their ticks for any number of workers, and in a state that was saved and loaded.
func TestTimers_RingAtTheirTicks(t *testing.T) {
	setup := func(s *store.Store) (func(ctx context.Context, tick int) error, error) {
		h := newHarbour(s)
		var ships []store.Handle[Ship]
		err := s.Write(t.Context(), func(w *store.Writer) {
			for i := range 40 {
				ships = append(ships, h.ships.Insert(w, Ship{}))
				h.timers.Insert(w, Timer{Due: 1 + uint64(i%7), Every: uint64(i % 4), Ship: ships[i]})
			}
		})
		return func(ctx context.Context, tick int) error {
			if _, err := h.frame.Run(ctx); err != nil {
				return err
			}
			now := tick + 1
			var got, want []int
			for i, ship := range ships {
				rings := 0
				if due, every := 1+i%7, i%4; now >= due {
					rings = 1
					if every > 0 {
						rings += (now - due) / every
					}
				}
				got, want = append(got, h.ships.At(ship).Energy), append(want, rings)
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("tick %d: got energies %v, want %v", now, got, want)
			}
			return nil
		}, err
	}
	storetest.Run(t, storetest.Options{Frames: 12}, setup)
	storetest.Reopen(t, storetest.Options{Frames: 12}, setup)
}
