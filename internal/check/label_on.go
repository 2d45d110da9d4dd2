//go:build handloom_check || race

package check

import (
	"context"
	"runtime/pprof"
	"unsafe"
)

// Label identifies the labels of a goroutine: it is the pointer to them. Reading it takes
// some nanoseconds and orders nothing between goroutines. The zero Label is the label of
// goroutines without labels.
type Label struct{ labels unsafe.Pointer }

// CurrentLabel returns the label of the calling goroutine.
func CurrentLabel() Label { return Label{profLabel()} }

func labelOf(ctx context.Context) Label {
	defer CurrentLabel().Restore(ctx)
	pprof.SetGoroutineLabels(ctx)
	return CurrentLabel()
}

// Restore gives the labels that the Label identifies to the calling goroutine.
func (l Label) Restore(context.Context) { setProfLabel(l.labels) }

// The runtime has these two for runtime/pprof, which gives no way to read a label back.

//go:linkname profLabel runtime/pprof.runtime_getProfLabel
func profLabel() unsafe.Pointer

//go:linkname setProfLabel runtime/pprof.runtime_setProfLabel
func setProfLabel(labels unsafe.Pointer)
