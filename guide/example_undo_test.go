package main_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// region history

// history has the states of a store before and after each of its last steps.
type history struct {
	store  *store.Store
	states []*store.Checkpoint // states[now] is the state of the store
	now    int
	last   int // newest state
}

// newHistory returns a history of at most steps steps, which begins with the state of s.
func newHistory(ctx context.Context, s *store.Store, steps int) (*history, error) {
	h := &history{store: s}
	for range steps + 1 {
		h.states = append(h.states, new(store.Checkpoint))
	}
	return h, s.Checkpoint(ctx, h.states[0])
}

// do runs a step, which can be undone. The steps that were undone before are gone. A step
// that fails changes nothing.
func (h *history) do(ctx context.Context, step func(ctx context.Context, w *store.Writer) error) error {
	if _, err := h.store.Frame(ctx, step); err != nil {
		return errors.Join(err, h.store.Rollback(ctx, h.states[h.now]))
	}
	if h.now+1 == len(h.states) { // the oldest state lends its memory to the newest
		h.states = append(h.states[1:], h.states[0])
		h.now--
	}
	h.now++
	h.last = h.now
	return h.store.Checkpoint(ctx, h.states[h.now])
}

// undo takes the last step back, and reports whether there was one.
func (h *history) undo(ctx context.Context) (bool, error) { return h.goTo(ctx, h.now-1) }

// redo repeats the step that was undone last, and reports whether there was one.
func (h *history) redo(ctx context.Context) (bool, error) { return h.goTo(ctx, h.now+1) }

func (h *history) goTo(ctx context.Context, state int) (bool, error) {
	if state < 0 || state > h.last {
		return false, nil
	}
	err := h.store.Rollback(ctx, h.states[state])
	if err == nil {
		h.now = state
	}
	return err == nil, err
}

// endregion

func Example_undo() {
	// region use
	ctx := context.Background()
	s, asteroids := newField(2)
	edits, err := newHistory(ctx, s, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(what string, done bool, err error) {
		fmt.Print(what, " ", done, " ", err, ":")
		for _, a := range asteroids.All() {
			fmt.Print(" ", a.X)
		}
		fmt.Println()
	}
	err = edits.do(ctx, func(_ context.Context, w *store.Writer) error {
		asteroids.Insert(w, Asteroid{X: 70})
		return nil
	})
	show("insert", err == nil, err)
	err = edits.do(ctx, func(ctx context.Context, _ *store.Writer) error {
		return asteroids.ForEach(ctx, func(c store.Chunk[Asteroid]) {
			for i := range c.Items {
				c.Items[i].X++
			}
		})
	})
	show("move", err == nil, err)
	for range 3 {
		done, err := edits.undo(ctx)
		show("undo", done, err)
	}
	done, err := edits.redo(ctx)
	show("redo", done, err)
	// endregion

	// Output:
	// insert true <nil>: 0 1 70
	// move true <nil>: 1 2 71
	// undo true <nil>: 0 1 70
	// undo true <nil>: 0 1
	// undo false <nil>: 0 1
	// redo true <nil>: 0 1 70
}

// The model keeps the states of all steps in slices.
func TestHistory_MatchesModel(t *testing.T) {
	ctx := t.Context()
	s, asteroids := newField(0)
	const steps = 5
	h, err := newHistory(ctx, s, steps)
	if err != nil {
		t.Fatal(err)
	}
	states, now := [][]int{nil}, 0
	r := rand.New(rand.NewPCG(1, 1))
	errStep := errors.New("step")
	for i := range 500 {
		done, want := true, true
		switch kind := r.IntN(8); {
		case kind < 3:
			fails := kind == 0
			err = h.do(ctx, func(_ context.Context, w *store.Writer) error {
				asteroids.Insert(w, Asteroid{X: i})
				if fails {
					return errStep
				}
				return nil
			})
			if fails && errors.Is(err, errStep) {
				err = nil
				break
			}
			states = append(slices.Clone(states[:now+1]), append(slices.Clone(states[now]), i))
			states = states[max(0, len(states)-steps-1):]
			now = len(states) - 1
		case kind < 6:
			done, err = h.undo(ctx)
			if want = now > 0; want {
				now--
			}
		default:
			done, err = h.redo(ctx)
			if want = now+1 < len(states); want {
				now++
			}
		}
		var got []int
		for _, a := range asteroids.All() {
			got = append(got, a.X)
		}
		if err != nil || done != want || !slices.Equal(got, states[now]) {
			t.Fatalf("step %d: got %v %t %v, want %v %t", i, got, done, err, states[now], want)
		}
	}
}
