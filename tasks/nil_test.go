package tasks_test

import (
	"context"
	"testing"

	"handloom/tasks"
)

func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	for want, f := range map[string]func() error{
		"tasks: Run with a nil context; give one":       func() error { return tasks.Run(none, 1, func(int) error { return nil }, tasks.Options{}) },
		"tasks: Run with a nil function; give one":      func() error { return tasks.Run(ctx, 2, nil, tasks.Options{}) },
		"tasks: WithTeam with a nil context; give one":  func() error { return tasks.WithTeam(none, 1, func(context.Context) error { return nil }) },
		"tasks: WithTeam with a nil function; give one": func() error { return tasks.WithTeam(ctx, 1, nil) },
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("panic with %v, want %s", got, want)
				}
			}()
			t.Errorf("returned %v", f())
		})
	}
}
