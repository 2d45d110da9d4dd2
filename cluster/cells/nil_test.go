package cells_test

import (
	"context"
	"testing"

	"handloom/cluster/cells"
	"handloom/proof/maptest"
)

func TestNil_IsNamed(t *testing.T) {
	ctx, none := context.Background(), context.Context(nil)
	out := newOutbox(t, cells.Options[int]{}).out
	local := cells.Local()
	for want, f := range map[string]func(){
		"cells: New with a nil Store":        func() { _, _ = cells.New(nil, cells.Options[int]{}) },
		"cells: Tick with a nil function":    func() { out.Tick(nil) },
		"cells: Run with a nil context":      func() { _ = out.Run(none, nil, local) },
		"cells: Run with a nil World":        func() { _ = out.Run(ctx, nil, local) },
		"cells: Send with a nil context":     func() { _ = local.Send(none, 1, 2, "", nil) },
		"cells: Receive with a nil context":  func() { _ = local.Receive(none, 1, "", nil) },
		"cells: Receive with a nil function": func() { _ = local.Receive(ctx, 1, "", nil) },
	} {
		if got := maptest.PanicOf(f); got != want+"; give one" {
			t.Errorf("got panic %v, want %s; give one", got, want)
		}
	}
}
