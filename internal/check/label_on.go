//go:build handloom_check || race

package check

import (
	"context"
	"runtime/pprof"
	"unsafe"
)

// Label is a pointer to the labels of a goroutine. Reading it takes some nanoseconds and
// does not synchronize goroutines. The zero Label belongs to goroutines without labels.
type Label struct{ labels unsafe.Pointer }

// CurrentLabel returns the label of the calling goroutine.
func CurrentLabel() Label { return Label{profLabel()} }

func labelOf(ctx context.Context) Label {
	defer CurrentLabel().Restore(ctx)
	pprof.SetGoroutineLabels(ctx)
	return CurrentLabel()
}

// Restore gives the labels to the calling goroutine.
func (l Label) Restore(context.Context) { setProfLabel(l.labels) }

// The runtime provides both for runtime/pprof, which cannot read a label back.

//go:linkname profLabel runtime/pprof.runtime_getProfLabel
func profLabel() unsafe.Pointer

//go:linkname setProfLabel runtime/pprof.runtime_setProfLabel
func setProfLabel(labels unsafe.Pointer)
