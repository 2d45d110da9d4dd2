package check

import (
	"context"
	"runtime/pprof"
)

// Labels are profile labels for goroutines of one kind of work. Goroutines inherit them.
type Labels struct {
	ctx   context.Context
	label Label
}

// NewLabels returns labels with key and value. No two calls return equal labels.
func NewLabels(key, value string) *Labels {
	ctx := pprof.WithLabels(context.Background(), pprof.Labels(key, value))
	return &Labels{ctx, labelOf(ctx)}
}

func (l *Labels) Value(key any) any { return l.ctx.Value(key) }

func (l *Labels) Set() { pprof.SetGoroutineLabels(l.ctx) }

// Label identifies the labels in checked builds.
func (l *Labels) Label() Label { return l.label }

// Enter gives the labels to the calling goroutine. [Label.Restore] of the result restores
// the old labels.
func (l *Labels) Enter() (before Label) {
	before = CurrentLabel()
	l.Set()
	return before
}
