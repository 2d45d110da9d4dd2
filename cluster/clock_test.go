package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go/jetstream"

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
	t.Parallel()
	const decades = 60 * 365 * 24 * time.Hour
	s, o := Embedded(t.TempDir()), Options{Snapshots: Folder(t.TempDir())}
	for id, later := range map[CellID]time.Duration{1: 0, 2: decades} {
		state := stateOfClock(t, later)
		noError(t, TryReseed(t, s, id, o, bytes.NewReader(state.Bytes())))
	}
	n := startNode(t, s, Host{Name: "a", Open: openBanks(o)})
	for _, id := range []CellID{1, 2} {
		place(t, n.Node, id, 1)
		for range 3 {
			reply, err := []byte(nil), world.ErrExpired
			for late := Wait(t); errors.Is(err, world.ErrExpired) && late.Err() == nil; { // after a late answer the first attempt may count
				reply, err = n.Call(t.Context(), id, []byte(transfer))
			}
			if string(reply) != "done" || err != nil {
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

// A beatEntry is a node's sign of life, by the clock of a server.
type beatEntry struct {
	jetstream.KeyValueEntry
	beat    int
	created time.Time
}

func (e beatEntry) Key() string                     { return nodePrefix + "a" }
func (e beatEntry) Value() []byte                   { return fmt.Appendf(nil, `{"beat":%d}`, e.beat) }
func (e beatEntry) Revision() uint64                { return uint64(e.beat) }
func (e beatEntry) Operation() jetstream.KeyValueOp { return jetstream.KeyValuePut }
func (e beatEntry) Created() time.Time              { return e.created }

func TestNode_ReportsWrongClock(t *testing.T) {
	t.Parallel()
	n := newNode(dial(t, Embedded(t.TempDir())), Servers{}, Host{Name: "a", Copies: 1})
	for beat, test := range []struct {
		off  time.Duration
		want string
	}{
		{0, ""}, {48 * time.Hour, "clock: 48h0m0s ahead of the servers; set the clock"}, {-time.Minute, "clock: -1m0s ahead"}, {time.Second, ""},
	} {
		n.see(t.Context(), beatEntry{beat: beat + 1, created: time.Now().Add(-test.off)})
		if got := strings.Join(n.Status().Problems, "; "); (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("clock off by %v: got %q, want %q", test.off, got, test.want)
		}
	}
}
