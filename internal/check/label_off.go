//go:build !handloom_check && !race

package check

import (
	"context"
	"runtime/pprof"
)

type Label struct{}

func CurrentLabel() Label { return Label{} }

func labelOf(context.Context) Label { return Label{} }

// Restore gives the labels of ctx to the calling goroutine, as [pprof.Do] does.
func (Label) Restore(ctx context.Context) { pprof.SetGoroutineLabels(ctx) }
