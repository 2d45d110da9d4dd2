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
	h := newHistory(s, steps)
	states, now := [][]int{nil}, 0
	r := rand.New(rand.NewPCG(1, 1))
	errStep := errors.New("step")
	for i := range 500 {
		var err error
		done, want := true, true
		switch kind := r.IntN(10); {
		case kind < 4:
			ctx, end := context.WithCancel(ctx)
			func() {
				defer func() { _ = recover() }()
				err = h.do(ctx, func(_ context.Context, w *store.Writer) error {
					asteroids.Insert(w, Asteroid{X: i})
					switch kind {
					case 0:
						end()
						return errStep
					case 1:
						panic(errStep)
					}
					return nil
				})
			}()
			end()
			if kind == 0 && errors.Is(err, errStep) {
				err = nil
			}
			if kind < 2 {
				break
			}
			states = append(slices.Clone(states[:now+1]), append(slices.Clone(states[now]), i))
			states = states[max(0, len(states)-steps-1):]
			now = len(states) - 1
		case kind == 4: // a change between two steps
			err = s.Write(ctx, func(*store.Writer) {
				states[now] = slices.Clone(states[now])
				for _, a := range asteroids.All() {
					a.X += 1000
					states[now][0] += 1000
					break
				}
			})
		case kind < 8:
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
