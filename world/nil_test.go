package world_test

import (
	"context"
	"testing"

	"handloom/proof/maptest"
	"handloom/store"
	"handloom/world"
)

func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	s := store.New(store.Options{})
	log := world.Memory()
	w, err := world.Open(ctx, s, log, world.Options{Tick: func(context.Context, *store.Writer, world.Tick) error { return nil }})
	noError(t, err)
	record := func(store.Queue) error { return nil }
	for want, f := range map[string]func(){
		"world: Open with a nil context":      func() { _, _ = world.Open(none, s, log, world.Options{}) },
		"world: Open with a nil Store":        func() { _, _ = world.Open(ctx, nil, log, world.Options{}) },
		"world: Open with a nil Log":          func() { _, _ = world.Open(ctx, s, nil, world.Options{}) },
		"world: Replay with a nil Log":        func() { _ = world.Replay(ctx, s, nil, world.Options{}, 0) },
		"world: SkipInput with a nil Log":     func() { _ = world.SkipInput(ctx, nil, 1) },
		"world: SkipInput with a nil context": func() { _ = world.SkipInput(none, log, 1) },
		"world: Run with a nil context":       func() { _ = w.Run(none) },
		"world: Step with a nil context":      func() { _, _ = w.Step(none) },
		"world: Submit with a nil context":    func() { _, _ = w.Submit(none, record) },
		"world: Submit with a nil function":   func() { _, _ = w.Submit(ctx, nil) },
		"world: Read with a nil context":      func() { _ = w.Read(none, func(context.Context, world.Tick) error { return nil }) },
		"world: Read with a nil function":     func() { _ = w.Read(ctx, nil) },
		"world: Export with a nil context":    func() { _ = w.Export(none, nil) },
		"world: Export with a nil io.Writer":  func() { _ = w.Export(ctx, nil) },
		"world: Handoff with a nil context":   func() { _ = w.Handoff(none, "") },
		"world: Close with a nil context":     func() { _ = w.Close(none) },
	} {
		equal(t, "panic", maptest.PanicOf(f), any(want+"; give one"))
	}
	noError(t, errorOf(w.Step(ctx)))
	noError(t, w.Close(ctx))
}
