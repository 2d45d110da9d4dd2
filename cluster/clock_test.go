package cluster

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"handloom/world"
)

// stateOfClock returns the state of a bank whose leader had a clock of the year 2000 plus later.
func stateOfClock(t *testing.T, later time.Duration) (state bytes.Buffer) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(later)
		b := newBank()
		o := b.options()
		o.Hz = 20
		w, err := world.Open(t.Context(), b.store, world.Memory(), o)
		noError(t, err)
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := w.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		noError(t, w.Export(t.Context(), &state))
		noError(t, w.Close(t.Context()))
	})
	return state
}

// A node leads cells whose former leaders had wrong clocks. Their calls count.
func TestNode_ContinuesAfterWrongClock(t *testing.T) {
	const decades = 60 * 365 * 24 * time.Hour
	s, o := Embedded(t.TempDir()), Options{Snapshots: Folder(t.TempDir())}
	for id, later := range map[CellID]time.Duration{1: 0, 2: decades} {
		state := stateOfClock(t, later)
		noError(t, Reseed(t.Context(), s, id, o, bytes.NewReader(state.Bytes())))
	}
	n := startNode(t, s, Host{Name: "a", Open: openBanks(o)})
	for _, id := range []CellID{1, 2} {
		noError(t, n.Place(t.Context(), id, 1))
		for range 3 {
			if reply, err := n.Call(t.Context(), id, []byte(transfer)); string(reply) != "done" || err != nil {
				t.Errorf("cell %v: got %q, %v, want done", id, reply, err)
			}
		}
	}
	for i, c := range n.Status().Cells {
		if off := c.World.ClockOff; (off > 0) != (i == 0) || off.Abs() < decades/6 {
			t.Errorf("cell %v: ClockOff: got %v, want decades, negative if the former clock was ahead", c.Cell, off)
		}
	}
}
