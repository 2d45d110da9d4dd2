//go:build handloom_check || race

package check

import (
	"context"
	"runtime/pprof"
	"unsafe"
)

// Label names the work that a goroutine does. It is the pointer to the goroutine's labels
// for profiles, so that goroutines inherit it from the goroutine that starts them, and a
// look at it costs some nanoseconds and orders nothing between goroutines. The zero Label
// is the label of goroutines without any.
//
// Labels that other code gives to a goroutine replace it.
type Label struct{ labels unsafe.Pointer }

// NewLabel returns a label that no other call returns. Profiles show it as key and value.
func NewLabel(key, value string) Label {
	defer CurrentLabel().Enter()()
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(key, value)))
	return CurrentLabel()
}

// CurrentLabel returns the label of the calling goroutine.
func CurrentLabel() Label { return Label{profLabel()} }

func (l Label) set() { setProfLabel(l.labels) }

// The runtime has these two for runtime/pprof, which gives no way to read a label back.

//go:linkname profLabel runtime/pprof.runtime_getProfLabel
func profLabel() unsafe.Pointer

//go:linkname setProfLabel runtime/pprof.runtime_setProfLabel
func setProfLabel(labels unsafe.Pointer)
