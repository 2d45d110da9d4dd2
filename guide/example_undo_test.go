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
	states []*store.Checkpoint // states[now] is saved before the store leaves that state
	now    int
	last   int // newest state
}

// newHistory returns a history of the last steps of s.
func newHistory(s *store.Store, steps int) *history {
	h := &history{store: s}
	for range steps + 1 {
		h.states = append(h.states, new(store.Checkpoint))
	}
	return h
}

// do runs a step, which can be undone. The steps that were undone before are gone. A step
// that fails or panics changes nothing.
func (h *history) do(ctx context.Context, step func(ctx context.Context, w *store.Writer) error) (err error) {
	if err := h.store.Checkpoint(ctx, h.states[h.now]); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			err = errors.Join(err, h.store.Rollback(context.WithoutCancel(ctx), h.states[h.now]))
		}
	}()
	if _, err := h.store.Frame(ctx, step); err != nil {
		return err
	}
	done = true
	if h.now+1 == len(h.states) { // the oldest state lends its memory to the newest
		h.states = append(h.states[1:], h.states[0])
		h.now--
	}
	h.now++
	h.last = h.now
	return nil
}

// undo takes the last step back, and reports whether there was one.
func (h *history) undo(ctx context.Context) (bool, error) { return h.goTo(ctx, h.now-1) }

// redo repeats the step that was undone last, and reports whether there was one.
func (h *history) redo(ctx context.Context) (bool, error) { return h.goTo(ctx, h.now+1) }

func (h *history) goTo(ctx context.Context, state int) (bool, error) {
	if state < 0 || state > h.last {
		return false, nil
	}
	err := h.store.Checkpoint(ctx, h.states[h.now])
	if err == nil {
		err = h.store.Rollback(ctx, h.states[state])
	}
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
	edits := newHistory(s, 100)
	show := func(step string, err error) {
		fmt.Print(step, " ", err, ":")
		for _, c := range cards.All() {
			fmt.Print(" ", c.Number)
		}
		fmt.Println()
	}
	show("insert", edits.do(ctx, func(_ context.Context, w *store.Writer) error {
		cards.Insert(w, Card{1})
		cards.Insert(w, Card{70})
		return nil
	}))
	show("raise", edits.do(ctx, func(context.Context, *store.Writer) error {
		for _, c := range cards.All() {
			c.Number++
		}
		return nil
	}))
	show("fail", edits.do(ctx, func(_ context.Context, w *store.Writer) error {
		cards.Insert(w, Card{9})
		return errors.New("refused")
	}))
	for range 2 {
		_, err := edits.undo(ctx)
		show("undo", err)
	}
	_, err := edits.redo(ctx)
	show("redo", err)
	// Output:
	// insert <nil>: 1 70
	// raise <nil>: 2 71
	// fail refused: 2 71
	// undo <nil>: 1 70
	// undo <nil>:
	// redo <nil>: 1 70
}
