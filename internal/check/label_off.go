//go:build !handloom_check && !race

package check

import (
	"context"
	"runtime/pprof"
)

// Label is nothing in a build without checks.
type Label struct{}

// CurrentLabel returns the zero Label in a build without checks.
func CurrentLabel() Label { return Label{} }

func labelOf(context.Context) Label { return Label{} }

// Restore gives the labels of ctx to the calling goroutine, as [pprof.Do] does.
func (Label) Restore(ctx context.Context) { pprof.SetGoroutineLabels(ctx) }
