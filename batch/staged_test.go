package batch_test

import "testing"

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
