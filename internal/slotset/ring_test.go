package slotset

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"handloom/internal/digest"
	"handloom/shard/handle"

	"pgregory.net/rapid"
)

// What is vacated first is issued first, however the ring lies: a model with a
// plain queue, of single and bulk calls in any mix, through growth, copies and
// Shrink, and however many tickets were drawn before.
func TestVacantSlotsAreIssuedInTheOrderInWhichTheyBecameVacant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o owners
		o.front = rapid.SampledFrom([]uint64{0, 1<<32 - 5, 1<<31 - 3}).Draw(t, "tickets drawn")
		o.base, o.back = o.front, o.front
		var queue []Slot
		o.slots = make([]Slot, 0, rapid.IntRange(0, 60).Draw(t, "room"))
		o.issue(rapid.IntRange(1, 40).Draw(t, "slots"))
		most, cleared := 0, false
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0, 1:
				ids := o.issue(rapid.IntRange(0, len(queue)).Draw(t, "n"))
				for i, id := range ids {
					if Slot(id.ID.Slot()) != queue[i] {
						t.Fatalf("issued %v, vacated were %v", ids, queue)
					}
				}
				queue = queue[len(ids):]
			case 2:
				if len(o.slots) > 0 {
					row := rapid.IntRange(0, len(o.slots)-1).Draw(t, "row")
					queue = append(queue, o.slots[row])
					o.vacate(row)
				}
			case 3:
				queue = append(queue, o.slots...)
				o.slots = o.VacateAll(o.slots)
				cleared = true
			case 4:
				var marks Bitset
				for row := range o.slots {
					if rapid.Bool().Draw(t, "marked") {
						marks.Add(row, len(o.slots), false)
						queue = append(queue, o.slots[row])
					}
				}
				o.EraseMarked(&marks, o.slots)
				o.slots = o.slots[:len(o.slots)-marks.Len()]
			case 5:
				if len(o.slots) > 0 {
					row := rapid.IntRange(0, len(o.slots)-1).Draw(t, "row")
					queue = append(queue, o.slots[row])
					o.vacateInline(row)
				}
			case 6:
				for range rapid.IntRange(0, len(queue)).Draw(t, "n") {
					if slot := Slot(o.issueInline()); slot != queue[0] {
						t.Fatalf("issued %v, vacated were %v", slot, queue)
					}
					queue = queue[1:]
				}
			default:
				o.Shrink()
				if len(o.ring) != len(queue) {
					t.Fatalf("after Shrink the ring has room for %d of %d vacant slots", len(o.ring), len(queue))
				}
				o = *o.clone()
			}
			if !slices.Equal(o.waiting(), queue) {
				t.Fatalf("vacant are %v, want %v", o.waiting(), queue)
			}
			most = max(most, len(queue))
			if len(o.ring) > max(smallestRing, 2*most) || !cleared && len(o.ring) > max(smallestRing, o.Slots()+o.Slots()/4) {
				t.Fatalf("a ring of %d for %d slots, of which %d were vacant at once", len(o.ring), o.Slots(), most)
			}
			noError(t, o.verify())
		}
	})
}

// vacateInline is vacate, and issueInline issues a slot, as the maps do it that inline it.
func (o *owners) vacateInline(row int) {
	slot, last := o.slots[row], o.slots[len(o.slots)-1]
	o.SetRow(last, Row(row))
	o.slots[row] = last
	o.slots = o.slots[:len(o.slots)-1]
	w, ok := TryRetire[Inline](&o.Freelist, slot, o.Words[slot])
	if !ok {
		w = o.Retire(slot, o.Words[slot], len(o.Words))
	}
	o.Words[slot] = w
}

func (o *owners) issueInline() handle.ID {
	slot, ok := TryPop[Inline](&o.Freelist)
	if !ok {
		return o.issue(1)[0].ID
	}
	upper := Reissue[Inline](&o.Freelist, o.Words[slot])
	o.Words[slot] = upper | handle.ID(len(o.slots))
	o.slots = append(o.slots, slot)
	return upper | handle.ID(slot)
}

// What is inlined leaves the state of what it stands for, or says no and changes
// nothing, whatever is held back or about to be depleted.
func TestWhatIsInlinedDoesWhatItStandsFor(t *testing.T) {
	setWidths(t, 3, 12)
	rapid.Check(t, func(t *rapid.T) {
		o := worn(t)
		want, before, next := o.clone(), state(&o.Set), o.Next
		if len(o.slots) > 0 && rapid.Bool().Draw(t, "erase") {
			slot := o.slots[0]
			w, ok := TryRetire[Inline](&o.Freelist, slot, o.Words[slot])
			if ok {
				o.Words[slot] = w
				want.Vacate(slot)
				before, next = state(&want.Set), want.Next
			}
		} else if slot, ok := TryPop[Inline](&o.Freelist); ok {
			if !want.CanReuse() || slot != want.Front() {
				t.Fatalf("slot %d is popped of %v, with %d held back", slot, want.waiting(), want.minFree)
			}
			o.Words[slot] = Reissue[Inline](&o.Freelist, o.Words[slot])
			want.TryIssue(0)
			before, next = state(&want.Set), want.Next
		}
		if state(&o.Set) != before || o.Next != next {
			t.Fatalf("the state is %v, next %v, not %v and %v", state(&o.Set), o.Next, before, next)
		}
	})
}

// A set that is loaded has the digest of the one that was saved, and issues the same
// slots.
func TestAFreelistSurvivesASnapshot(t *testing.T) {
	setWidths(t, 3, 12)
	rapid.Check(t, func(t *rapid.T) {
		o := worn(t)
		loaded, err := reload(&o.Set)
		noError(t, err)
		noError(t, loaded.Verify(func(Slot, Row) error { return nil }))
		var want, got digest.Hash
		o.Digest(&want)
		loaded.Digest(&got)
		if want.Sum() != got.Sum() || !slices.Equal(loaded.waiting(), o.waiting()) {
			t.Fatalf("saved were %v, loaded are %v", o.waiting(), loaded.waiting())
		}
	})
}

// A set of bytes that were changed is refused, or it is the set of the changed bytes.
func TestSet_LoadRefusesOrReadsTheBytes(t *testing.T) {
	setWidths(t, 3, 12)
	rapid.Check(t, func(t *rapid.T) {
		o := worn(t)
		b := encoding(&o.Set)
		at := rapid.IntRange(16, len(b)-1).Draw(t, "at")
		b[at] = byte(rapid.IntRange(0, 9).Draw(t, "byte"))
		loaded, err := readBack(&o.Set, b)
		if err == nil {
			err = loaded.Verify(func(Slot, Row) error { return nil })
		}
		if err == nil && !bytes.Equal(encoding(loaded), b) {
			t.Fatalf("byte %d changed: the set of other bytes, waiting %v", at, loaded.waiting())
		}
	})
}

// The freelist of a snapshot ends where the snapshot says.
func TestSet_LoadRefusesAFreelistThatEndsElsewhere(t *testing.T) {
	var o owners
	o.issue(5)
	for _, slot := range []Slot{1, 3, 4} {
		o.Vacate(slot)
	}
	b := encoding(&o.Set)
	const back = 8 + 8 + 5*8 + 4 // after typeId, slots, words and front; its high bytes are 0
	for end := range byte(7) {
		b[back] = end
		if _, err := readBack(&o.Set, b); (err == nil) != (end == 5) {
			t.Errorf("back %d: %v", end, err)
		}
	}
}

// encoding returns what the digest of s is of.
func encoding(s *Set) (saved []byte) {
	tee := digest.NewTee(1<<20, func(piece []byte, _ bool) { saved = append(saved, piece...) })
	var h digest.Hash
	h.Tee(tee)
	s.Digest(&h)
	h.Flush()
	return saved
}

// reload gives a new set what the digest of s is of.
func reload(s *Set) (*Set, error) { return readBack(s, encoding(s)) }

// readBack gives a new set like s these bytes.
func readBack(s *Set, saved []byte) (*Set, error) {
	in := digest.NewDecoder(func() ([]byte, error) {
		if len(saved) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		piece := saved
		saved = nil
		return piece, nil
	})
	loaded := &Set{Freelist: s.Unused()}
	loaded.Load(in)
	return loaded, in.Err()
}

// Erases and creates that keep pace allocate nothing. Vacating all slots copies none: the
// array of their numbers becomes the ring, and what was the ring the array of the next.
func TestTheRingIsMadeOnce(t *testing.T) {
	o := owners{slots: make([]Slot, 0, 1000)}
	o.issue(1000)
	all := &o.slots[0]
	if o.slots = o.VacateAll(o.slots); &o.ring[0] != all || cap(o.slots) != 0 {
		t.Error("the slots were copied")
	}
	meta, ids := make([]Slot, 100), make([]handle.ID, 100)
	if n := testing.AllocsPerRun(100, func() {
		o.Issue(0, meta, ids)
		for _, slot := range meta {
			o.Vacate(slot)
		}
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if len(o.ring) != 1000 {
		t.Errorf("a ring of %d for 1000 slots", len(o.ring))
	}
	o.slots = make([]Slot, 0, 1000)
	o.issue(1000)
	again := &o.slots[0]
	if o.slots = o.VacateAll(o.slots); &o.ring[0] != again || cap(o.slots) != 1000 || &o.slots[:1][0] != all {
		t.Error("the arrays were not exchanged")
	}
}

// noError ends the test if there is an error.
func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
