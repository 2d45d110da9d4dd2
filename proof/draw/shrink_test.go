package draw_test

import (
	"context"
	"testing"

	"handloom/proof/draw"
	"handloom/proof/script"
)

// fails is a sample fault: a program clears a table and later flushes an erase
// of at least three handles.
func fails(p *script.Script) bool {
	cleared, erased, failed := false, false, false
	script.Walk(p.Steps, func(s *script.Step) {
		switch s.Op {
		case script.Clear:
			cleared = true
		case script.EraseItems:
			n := 0
			for _, r := range s.Refs {
				_, k := r.Names()
				n += k
			}
			erased = erased || cleared && n >= 3
		case script.Flush:
			failed = failed || erased
		}
	})
	return failed
}

func TestShrink_KeepsTheFailureAlone(t *testing.T) {
	shrunk := 0
	for seed := uint64(0); shrunk < 5 && seed < 1000; seed++ {
		p := draw.Script(seed, draw.Options{Steps: 400, Misuses: []string{"write-in-read"}})
		if !fails(p) {
			continue
		}
		small := draw.Shrink(t.Context(), p, func(p *script.Script) bool {
			if _, err := script.Parse(p.Text(), "smaller"); err != nil {
				t.Fatalf("seed %d: %v in\n%s", seed, err, p.Text())
			}
			return fails(p)
		})
		if !fails(small) {
			t.Fatalf("seed %d: the result does not fail:\n%s", seed, small.Text())
		}
		if n := small.Len(); n > 6 || len(small.Tables) > 1 { // write, clear; pass, erase; flush
			t.Errorf("seed %d: %d operations on %d tables are left of %d:\n%s", seed, n, len(small.Tables), p.Len(), small.Text())
		}
		shrunk++
	}
	if shrunk < 5 {
		t.Errorf("only %d programs failed", shrunk)
	}
}

func TestShrink_StopsWithItsContext(t *testing.T) {
	for seed := uint64(0); ; seed++ {
		p := draw.Script(seed, draw.Options{Steps: 400, Misuses: []string{"write-in-read"}})
		if !fails(p) {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		small := draw.Shrink(ctx, p, func(p *script.Script) bool {
			if calls++; calls == 5 {
				cancel()
			}
			return fails(p)
		})
		if !fails(small) || calls > 6 {
			t.Errorf("after %d calls the result fails: %v", calls, fails(small))
		}
		return
	}
}
