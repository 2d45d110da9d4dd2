package slotset

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/digest"

	"pgregory.net/rapid"
)

// The model is a plain queue.
func TestFreelist_IsFIFO(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o owners
		o.front = rapid.SampledFrom([]uint64{0, 1<<32 - 5, 1<<31 - 3}).Draw(t, "tickets drawn")
		o.base, o.back = o.front, o.front
		var queue []Slot
		o.slots = make([]Slot, 0, rapid.IntRange(0, 60).Draw(t, "room"))
		o.issue(rapid.IntRange(1, 40).Draw(t, "slots"))
		most, cleared := 0, false
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
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
				o.EraseMarked(&marks, o.slots, func([]Move) {})
				o.slots = o.slots[:len(o.slots)-marks.Len()]
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

// Slots may be held back or depleted.
func TestInline_EqualsMethods(t *testing.T) {
	check := func(t *rapid.T) {
		o := worn(t)
		want, before := o.clone(), state(&o.Set)
		for range 30 {
			if len(o.slots) > 0 && rapid.Bool().Draw(t, "erase") {
				slot := o.slots[0]
				o.slots = o.slots[1:]
				w, ok := TryRetire[Inline](&o.Freelist, slot, o.Words[slot])
				if !ok {
					if state(&o.Set) != before {
						t.Fatal("TryRetire returns false and changes the state")
					}
					w = o.Retire(slot, o.Words[slot], len(o.Words))
				}
				o.Words[slot] = w
				want.Vacate(slot)
			} else if slot, ok := TryPop[Inline](&o.Freelist); ok {
				if !want.CanReuse() || slot != want.Front() {
					t.Fatalf("slot %d is popped of %v, with %d held back", slot, want.waiting(), want.minFree)
				}
				o.Words[slot] = Reissue[Inline](&o.Freelist, o.Words[slot])
				want.TryIssue(0)
				o.slots = append(o.slots, slot)
			}
			before = state(&o.Set)
			if before != state(&want.Set) || o.Next != want.Next {
				t.Fatalf("state %v, next %v, want %v and %v", before, o.Next, state(&want.Set), want.Next)
			}
		}
	}
	for _, last := range []uint16{3, 100} {
		setWidths(t, last, 12)
		rapid.Check(t, check)
	}
}

func TestSet_LoadRestoresOrRefuses(t *testing.T) {
	setWidths(t, 3, 12)
	rapid.Check(t, func(t *rapid.T) {
		o := worn(t)
		b := encoding(&o.Set)
		loaded, err := readBack(&o.Set, b)
		noError(t, err)
		if !bytes.Equal(encoding(loaded), b) || !slices.Equal(loaded.waiting(), o.waiting()) {
			t.Fatalf("saved were %v, loaded are %v", o.waiting(), loaded.waiting())
		}
		noError(t, loaded.Verify(anyOwner))
		at := rapid.IntRange(16, len(b)-1).Draw(t, "at")
		b[at] = byte(rapid.IntRange(0, 9).Draw(t, "byte"))
		if loaded, err = readBack(&o.Set, b); err == nil {
			err = loaded.Verify(anyOwner)
		}
		if err == nil && !bytes.Equal(encoding(loaded), b) {
			t.Fatalf("byte %d changed: the set of other bytes, waiting %v", at, loaded.waiting())
		}
	})
}

// The freelist must end at the encoded back.
func TestSet_LoadChecksBack(t *testing.T) {
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

// encoding returns the bytes that Digest hashes.
func encoding(s *Set) (saved []byte) {
	tee := digest.NewTee(1<<20, func(piece []byte, _ bool) { saved = append(saved, piece...) })
	var h digest.Hash
	h.Tee(tee)
	s.Digest(&h)
	h.Flush()
	return saved
}

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

// VacateAll exchanges the array of slots with the ring.
func TestRing_IsReused(t *testing.T) {
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
	}); n != 0 && !check.Cheap && testing.CoverMode() == "" {
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

func noError(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
