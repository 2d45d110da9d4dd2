package check

import (
	"context"
	"runtime/pprof"
	"sync"
	"testing"
)

func TestLabels_AreInheritedAndRestored(t *testing.T) {
	if !Cheap {
		t.Skip("a normal build cannot read labels")
	}
	var none Label
	a, b := NewLabels("key", "same"), NewLabels("key", "same")
	if a.Label() == none || b.Label() == none || a.Label() == b.Label() || CurrentLabel() != none {
		t.Fatalf("labels, got %v, %v and %v, want two labels and none", a.Label(), b.Label(), CurrentLabel())
	}
	wants := func(what string, l Label) {
		t.Helper()
		if got := CurrentLabel(); got != l {
			t.Errorf("%s: label, got %v, want %v", what, got, l)
		}
	}
	before := a.Enter()
	var all sync.WaitGroup
	all.Go(func() {
		wants("a goroutine of a", a.Label())
		defer b.Enter().Restore(t.Context())
		wants("Enter", b.Label())
	})
	all.Wait()
	wants("after a goroutine", a.Label())
	pprof.Do(carrier{t.Context(), a}, pprof.Labels("key", "other"), func(context.Context) {
		if CurrentLabel() == a.Label() {
			t.Error("labels of other code, got those of a")
		}
	})
	wants("after labels of other code", a.Label())
	before.Restore(t.Context())
	wants("after Restore", none)
}

// carrier is a context with labels.
type carrier struct {
	context.Context
	labels *Labels
}

func (c carrier) Value(key any) any {
	if v := c.labels.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}
