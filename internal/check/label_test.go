package check

import (
	"context"
	"runtime/pprof"
	"sync"
	"testing"
)

func TestLabel_IsInheritedAndGivenBack(t *testing.T) {
	if !Cheap {
		t.Skip("a normal build has no labels")
	}
	var none Label
	a, b := NewLabel("key", "same"), NewLabel("key", "same")
	if a == none || b == none || a == b || CurrentLabel() != none {
		t.Fatalf("labels %v and %v are equal or zero, or left to the goroutine, which has %v", a, b, CurrentLabel())
	}
	leave := a.Enter()
	var all sync.WaitGroup
	all.Go(func() {
		if CurrentLabel() != a {
			t.Error("a goroutine has another label than the goroutine that started it")
		}
		defer b.Enter()()
		if CurrentLabel() != b {
			t.Error("Enter gave no label")
		}
	})
	all.Wait()
	if CurrentLabel() != a {
		t.Error("the label changed with that of another goroutine")
	}
	pprof.Do(context.Background(), pprof.Labels("key", "other"), func(context.Context) {
		if CurrentLabel() == a {
			t.Error("labels of other code leave the label")
		}
	})
	leave()
	if CurrentLabel() != none {
		t.Error("the label outlives leave")
	}
}
