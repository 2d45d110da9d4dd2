package main_test

import (
	"context"
	"errors"
	"fmt"

	"handloom/store"
)

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
		return errors.Join(err, h.store.Rollback(context.WithoutCancel(ctx), h.states[h.now]))
	}
	if h.now+1 == len(h.states) { // the oldest state lends its memory to the newest
		h.states = append(h.states[1:], h.states[0])
		h.now--
	}
	h.now++
	h.last = h.now
	return h.store.Checkpoint(context.WithoutCancel(ctx), h.states[h.now])
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

// Card is an item of the program.
type Card struct{ Number int }

func Example_undo() {
	ctx := context.Background()
	s := store.New(store.Options{})
	cards := store.Register(s, store.TableOptions[Card]{Name: "card"})
	edits, err := newHistory(ctx, s, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	show := func(what string, done bool, err error) {
		fmt.Print(what, " ", done, " ", err, ":")
		for _, c := range cards.All() {
			fmt.Print(" ", c.Number)
		}
		fmt.Println()
	}
	err = edits.do(ctx, func(_ context.Context, w *store.Writer) error {
		cards.Insert(w, Card{1})
		cards.Insert(w, Card{70})
		return nil
	})
	show("insert", err == nil, err)
	err = edits.do(ctx, func(ctx context.Context, _ *store.Writer) error {
		return cards.ForEach(ctx, func(c store.Chunk[Card]) {
			for i := range c.Items {
				c.Items[i].Number++
			}
		})
	})
	show("raise", err == nil, err)
	for range 3 {
		done, err := edits.undo(ctx)
		show("undo", done, err)
	}
	done, err := edits.redo(ctx)
	show("redo", done, err)
	// Output:
	// insert true <nil>: 1 70
	// raise true <nil>: 2 71
	// undo true <nil>: 1 70
	// undo true <nil>:
	// undo false <nil>:
	// redo true <nil>: 1 70
}
