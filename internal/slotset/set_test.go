package slotset

import (
	"flag"
	"math"
	"slices"
	"testing"

	"handloom/handle"
	"handloom/internal/seam"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

type (
	item   struct{}
	itemID = handle.Of[item]
)

func setWidths(t testing.TB, lastGeneration uint16, slotLimit uint32) {
	t.Helper()
	t.Cleanup(seam.Narrow(lastGeneration, slotLimit))
}

type owners struct {
	Set
	slots []Slot // by row
}

func (o *owners) issue(n int) []itemID {
	if !o.CanIssue(n, 0) {
		panic("no room for so many slots")
	}
	o.Grow(o.Slots() + o.Fresh(n))
	row := len(o.slots)
	o.slots = append(o.slots, make([]Slot, n)...)
	ids := make([]itemID, n)
	o.Issue(Row(row), o.slots[row:], handle.IDs(ids))
	return ids
}

func (o *owners) vacate(row int) {
	slot, last := o.slots[row], o.slots[len(o.slots)-1]
	o.SetRow(last, Row(row))
	o.slots[row] = last
	o.slots = o.slots[:len(o.slots)-1]
	if w, ok := TryRetire[Inline](&o.Freelist, slot, o.Words[slot]); ok {
		o.Words[slot] = w
		return
	}
	o.Vacate(slot)
}

func (o *owners) clone() *owners {
	c := &owners{slots: slices.Clone(o.slots)}
	c.Grow(o.Slots())
	o.CopyTo(&c.Set)
	return c
}

func (o *owners) verify() error { return o.Verify(anyOwner) }

func anyOwner(Slot, Row) error { return nil }

func worn(t *rapid.T) *owners {
	var o owners
	o.Init(uint16(rapid.IntRange(0, handle.MaxTypeID).Draw(t, "typeID")), uint32(rapid.IntRange(0, 5).Draw(t, "minFree")))
	o.front = rapid.SampledFrom([]uint64{0, 1<<32 - 5, 1<<31 - 3}).Draw(t, "tickets drawn")
	o.base, o.back = o.front, o.front
	for range rapid.IntRange(0, 30).Draw(t, "steps") {
		switch rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			if n := rapid.IntRange(0, 5).Draw(t, "n"); o.CanIssue(n, 0) {
				o.issue(n)
			}
		case 1:
			if o.CanReuse() || uint64(o.Slots()) < o.Limit() {
				o.Grow(o.Slots() + o.Fresh(1))
				id, _ := o.TryIssue(Row(len(o.slots)))
				o.slots = append(o.slots, Slot(id))
			}
		case 2, 3, 4:
			if len(o.slots) > 0 {
				o.vacate(rapid.IntRange(0, len(o.slots)-1).Draw(t, "row"))
			}
		case 5:
			o.VacateAll(o.slots)
			if o.slots = nil; o.CanDrop() {
				o.Drop()
			}
		}
	}
	noError(t, o.verify())
	return &o
}

func state(s *Set) any {
	var words, vacant [64]handle.ID
	copy(words[:], s.Words)
	for i, slot := range s.waiting() {
		vacant[i] = handle.ID(slot)
	}
	return [...]any{words, len(s.Words), s.typeID, vacant, s.front, s.back, s.depleted, s.highest, s.floor}
}

func TestCanIssue_CountsFreedSlots(t *testing.T) {
	setWidths(t, 2, 8)
	rapid.Check(t, func(t *rapid.T) {
		o := worn(t)
		freed := rapid.IntRange(0, len(o.slots)).Draw(t, "freed")
		n := rapid.IntRange(0, 10).Draw(t, "n")
		for range freed {
			before, depleted := o.CanIssue(n, 1), o.Depleted()
			last := o.IsLast(o.Handle(o.slots[0]))
			o.vacate(0)
			if wentDepleted := o.Depleted() > depleted; wentDepleted != last {
				t.Fatalf("IsLast says %t, depleted: %t", last, wentDepleted)
			}
			if !last && before != o.CanIssue(n, 0) {
				t.Fatalf("CanIssue(%d, 1) = %t, and afterwards %t", n, before, o.CanIssue(n, 0))
			}
		}
	})
}

func TestVacateAll_EqualsVacate(t *testing.T) {
	for _, last := range []uint16{1, 2, 3, 7} { // with few generations some slots deplete
		setWidths(t, last, 16)
		rapid.Check(t, func(t *rapid.T) {
			all := worn(t)
			single := all.clone()
			all.VacateAll(all.slots)
			for _, slot := range single.slots {
				single.Vacate(slot)
			}
			if state(&all.Set) != state(&single.Set) {
				t.Fatalf("VacateAll leaves %v, Vacate %v", all.Words, single.Words)
			}
			noError(t, all.verify())
		})
	}
}

// The last slot numbers are never issued, because slot+1 is the link to a slot in digests.
func TestWidths_FitTheFields(t *testing.T) {
	var s Set
	if want := uint64(min(1<<32-2, math.MaxInt/8)); s.Limit() != want || LastGeneration() != 1<<16-1 {
		t.Errorf("limit %d, want %d; last generation %d", s.Limit(), want, LastGeneration())
	}
	if last := s.Limit() - 1; last+1 > 1<<32-1 {
		t.Errorf("slot %d: the link to it is beyond 32 bits", last)
	}
}

func (s *Set) CanIssue(n, freed int) bool { return s.canIssue(len(s.Words), n, freed) }
