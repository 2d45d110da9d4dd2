package batch_test

import (
	"testing"

<<<<<<< HEAD:batch/staged_test.go
	"handloom/handle"
)

func TestStaged_KnowsItsNameAndNests(t *testing.T) {
	b := newBench(1<<20, 1)
	q := b.Begin(1).Queue(0)
	var inner name
	outer := b.EmplaceStaged(q, func(h name, v *value) {
		*v = value{N: 1, Link: h.ID}
		inner = b.EmplaceStaged(q, func(h name, v *value) {
			for range 3 * segmentItems { // the array grows, and segments follow
				b.Emplace(q, value{N: 9})
			}
			*v = value{N: 2, Link: h.ID}
		})
		v.N++ // after the growth
	})
	for what, c := range map[string]struct {
		name
		n uint64
	}{"outer": {outer, 2}, "inner": {inner, 2}} {
		if v, ok := b.Staged(q, c.name); !ok || *v != (value{N: c.n, Link: c.ID}) {
			t.Errorf("the %s value is %v, %t", what, v, ok)
		}
	}
}

=======
	"handloom/batch"
)

>>>>>>> storetests:batch/func_test.go
func TestStaged_PointersStayValidInThePass(t *testing.T) {
	b := newBench(1<<20, 1)
	for round := range 4 { // in new memory, then in reused memory
		p := b.Begin(1)
		q := p.Queue(0)
		var pointers []*value
		b.EmplaceStaged(q, func(h name, v *value) {
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

<<<<<<< HEAD:batch/staged_test.go
func TestStaged_FindsOnlyItsQueuesCreates(t *testing.T) {
	b := newBench(100, 1)
	p := b.Begin(2)
	mine := b.Emplace(p.Queue(0), value{N: 1})
	b.Emplace(p.Queue(1), value{N: 2})
	v, ok := b.Staged(p.Queue(0), mine)
	if !ok || v.N != 1 {
		t.Fatalf("%v, %t", v, ok)
	}
	v.N = 3
	for what, miss := range map[string]struct {
		q queue
		p name
	}{
		"in another queue":  {p.Queue(1), mine},
		"not recorded yet":  {p.Queue(0), name{ID: mine.ID + 1}},
		"of another table":  {p.Queue(0), name{ID: mine.ID + 1<<48}},
		"no name at all":    {p.Queue(0), name{ID: handle.New(7, 1, 0)}},
		"the null handle":   {p.Queue(0), name{}},
		"in an empty queue": {b.Begin(1).Queue(0), mine},
	} {
		if v, ok := b.Staged(miss.q, miss.p); ok || v != nil {
			t.Errorf("%s: %v, %t", what, v, ok)
		}
	}
	c := b.commands()
	b.plan(c)
	if got := survivors(c, 0, 2); got[0] != 3 || got[1] != 2 {
		t.Errorf("values %v", got)
=======
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
>>>>>>> storetests:batch/func_test.go
	}
}
