package swarm

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// some returns the acts of a person in some of the ticks.
func some(tick int) []Act {
	switch tick % 20 {
	case 3:
		return []Act{{X: 100, Y: 100}, {Kill: true, X: 300, Y: 200}}
	case 11:
		return []Act{{Kill: true, X: 100 + tick, Y: 120}}
	}
	return nil
}

func TestSwarm_IsDeterministic(t *testing.T) {
	storetest.Run(t, storetest.Options{Workers: []int{1, 3, 16}, Frames: 8}, func(s *store.Store) (func(context.Context, int) error, error) {
		w, err := register(s)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, tick int) error {
			w.tick, w.acts = tick, some(tick)
			_, err := w.Frame.Run(ctx)
			return err
		}, w.begin(t.Context(), 1000)
	})
}

// playTo plays the ticks before a tick.
func playTo(t *testing.T, h *History, tick int) {
	t.Helper()
	for h.Now < tick {
		_, err := h.Play(t.Context(), 2, some(h.Now))
		noError(t, err)
	}
}

// Ticks played again have the same states, also with another number of workers; other
// acts result in other states.
func TestHistory_BackRestoresStates(t *testing.T) {
	ctx := t.Context()
	h, err := NewHistory(ctx, 150)
	noError(t, err)
	playTo(t, h, 300)
	was := h.digests
	for _, tick := range []int{299, 297, 296, 288, 250, h.First() + 1} {
		if err := h.Back(ctx, 3, tick); err != nil || h.Now != tick {
			t.Fatalf("back to %d: at %d, %v", tick, h.Now, err)
		}
	}
	playTo(t, h, 300)
	if h.digests != was {
		t.Error("the same acts resulted in other states")
	}
	noError(t, h.Back(ctx, 1, 290))
	if d, err := h.Play(ctx, 1, []Act{{X: 5, Y: 5}}); err != nil || d == was[290%len(was)] {
		t.Error("another act resulted in the same state", err)
	}
	for _, tick := range []int{h.Now + 1, h.First() - 1} {
		if err := h.Back(ctx, 1, tick); err == nil {
			t.Errorf("went back to %d", tick)
		}
	}
}

// Back finds a tick with another state anywhere between the checkpoint and its target.
func TestHistory_BackComparesEveryTick(t *testing.T) {
	ctx := t.Context()
	h, err := NewHistory(ctx, 50)
	noError(t, err)
	playTo(t, h, 2*every)
	for tick := every; tick < 2*every; tick++ {
		was := h.digests[tick]
		h.digests[tick]++
		want := fmt.Sprintf("tick %d, played again: digest %x, want %x", tick+1, was, was+1)
		if err := h.Back(ctx, 1, 2*every); err == nil || err.Error() != want {
			t.Errorf("changed digest of tick %d: error %v, want %s", tick, err, want)
		}
		h.digests[tick] = was
		playTo(t, h, 2*every)
		noError(t, h.Back(ctx, 1, 2*every))
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
