package main_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// The model keeps the states of all steps in slices.
func TestUndo_MatchesModel(t *testing.T) {
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
			ctx, end := context.WithCancel(ctx)
			err = h.do(ctx, func(_ context.Context, w *store.Writer) error {
				asteroids.Insert(w, Asteroid{X: i})
				if fails {
					end()
					return errStep
				}
				return nil
			})
			end()
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
