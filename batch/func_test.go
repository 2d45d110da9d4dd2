package batch_test

import (
	"testing"

	"handloom/batch"
)

func TestStaged_PointersStayValidInThePass(t *testing.T) {
	b := newBench(1<<20, 1)
	for round := range 4 { // in new memory, then in reused memory
		p := b.Begin(1)
		q := p.Queue(0)
		var pointers []*value
		b.EmplaceFunc(q, func(h name, v *value) {
			own, _ := b.Staged(q, h)
			pointers = append(pointers, v)
			for i := range 2 * segmentItems {
				if next := b.Emplace(q, value{}); i%1000 < 2 || i+1 == segmentItems {
					staged, _ := b.Staged(q, next)
					pointers = append(pointers, staged)
				} else {
					b.Erase(q, next)
				}
			}
			own.N++
			v.N++
			again, _ := b.Staged(q, h)
			again.N++
		})
		if pointers[0].N != 3 {
			t.Errorf("round %d: of three writes %d are kept", round, pointers[0].N)
		}
		for i, v := range pointers {
			v.N = uint64(i)
		}
		c := b.commands()
		b.plan(c)
		expectRange(t, survivors(c, 0, c.Survivors()), 0, len(pointers))
		if round == 1 {
			b.Finish()
		} else {
			b.Drop(nil)
		}
	}
}

func TestEmplaceFunc_PanicCancelsTheCreate(t *testing.T) {
	b := newBench(100, 1)
	q := b.Begin(1).Queue(0)
	var h name
	if panicOf(func() { b.EmplaceFunc(q, func(p name, v *value) { h = p; v.N = 1; panic("no") }) }) != "no" {
		t.Error("the panic is lost")
	}
	b.Emplace(q, value{N: 2})
	c := b.commands()
	if counts := b.plan(c); counts != (batch.Counts{Created: 1, CancelledOut: 2}) {
		t.Errorf("%+v", counts)
	}
	if got := survivors(c, 0, 1); got[0] != 2 {
		t.Errorf("%d survives", got[0])
	}
	if real, ok := c.Resolve(h.ID); !ok || !real.IsZero() {
		t.Errorf("the name resolves to %v, %t", real, ok)
	}
}
