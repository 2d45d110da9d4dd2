package slotset

import (
	"math/bits"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"handloom/handle"
)

// wordsAtTheBound returns n-3 words of a mapping of n words. Only the words past n-64 are
// accessible.
func wordsAtTheBound(t *testing.T, n uint64) []handle.ID {
	t.Helper()
	if bits.UintSize < 64 {
		t.Skip("so many words cannot be addressed")
	}
	const size, page = unsafe.Sizeof(handle.ID(0)), 1 << 16
	length := (uintptr(n)*size + page - 1) &^ (page - 1)
	memory, err := syscall.Mmap(-1, 0, int(length), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skipf("no address space for so many words: %v", err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	if err := syscall.Mprotect(memory[length-2*page:], syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
		t.Skipf("no memory for the last words: %v", err)
	}
	return unsafe.Slice((*handle.ID)(unsafe.Pointer(&memory[0])), int(n))[:n-3]
}

// Arithmetic on slot numbers does not carry into the generation.
func TestSet_IssuesLastSlots(t *testing.T) {
	words := wordsAtTheBound(t, uint64(SlotLimit()))
	first := Slot(len(words)) // the first of the last three
	for _, order := range [][]Slot{{2}, {1, 2}, {0, 1, 2}, {2, 1, 0}, {2, 0, 1}, {1, 0, 2}} {
		for _, bulk := range []bool{true, false} {
			s := Set{Words: words}
			s.setWidths()
			meta, ids := make([]Slot, 3), make([]handle.ID, 3)
			issue := func(n int) {
				want := make([]handle.ID, n)
				s.Preview(want)
				if bulk {
					s.Issue(0, meta[:n], ids[:n])
				} else {
					for i := range n {
						ids[i], _ = s.TryIssue(Row(i))
						meta[i] = Slot(ids[i])
					}
				}
				if !slices.Equal(ids[:n], want) {
					t.Fatalf("vacated %v, bulk is %t: issued %v, but Preview says %v", order, bulk, ids[:n], want)
				}
			}
			if !s.CanIssue(3, 0) || s.CanIssue(4, 0) {
				t.Fatalf("there is not room for 3 slots more than %d", len(words))
			}
			issue(3)
			for _, slot := range order {
				s.Vacate(first + slot)
			}
			issue(len(order))
			for i, slot := range order {
				if want := handle.New(0, 2, uint32(first+slot)); ids[i] != want {
					t.Errorf("vacated %v, bulk is %t: number %d is %v, want %v", order, bulk, i, ids[i], want)
				}
			}
			if s.CanIssue(1, 0) || s.vacant() != 0 || s.highest != 2 {
				t.Errorf("vacated %v, bulk is %t: left are %d vacant, highest generation %d",
					order, bulk, s.vacant(), s.highest)
			}
			s.VacateAll([]Slot{first + 2, first + 1, first})
			issue(3)
		}
	}
}

// The ring is mostly without memory, and the vacant slots wrap around its end.
func largeFreelist(t *testing.T) *Freelist {
	t.Helper()
	if bits.UintSize < 64 {
		t.Skip("so large a ring cannot be addressed")
	}
	places := uint64(3e9) // a variable, because 32-bit ints cannot hold the constant
	memory, err := syscall.Mmap(-1, 0, int(places*uint64(unsafe.Sizeof(Slot(0)))), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skipf("no address space for so large a ring: %v", err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	s := &Freelist{ring: unsafe.Slice((*Slot)(unsafe.Pointer(&memory[0])), int(places)), front: 29e8, back: 49e8}
	s.setWidths()
	return s
}

// Tickets reach twice the length of the ring, which exceeds 32 bits.
func TestFreelist_RingOfThreeBillionPlaces(t *testing.T) {
	const slot, place, ticket = Slot(77), 19e8, uint32(4_900_000_000 & (1<<32 - 1))
	live := handle.New(0, 0, 1)
	vacated := retired(live, ticket)
	for name, retire := range map[string]func(s *Freelist) handle.ID{
		"Retire": func(s *Freelist) handle.ID { return s.Retire(slot, live, len(s.ring)) },
		"TryRetire": func(s *Freelist) handle.ID {
			if w, ok := TryRetire[int](s, slot, live); ok { // the ring wraps
				return w
			}
			return s.Retire(slot, live, len(s.ring))
		},
		"PushRun": func(s *Freelist) handle.ID { return retired(live, s.PushRun(slot, slot+1, len(s.ring))) },
	} {
		t.Run(name, func(t *testing.T) {
			s := largeFreelist(t)
			if w := retire(s); w != vacated {
				t.Errorf("the word is %v, want %v", w, vacated)
			}
			if s.ring[int(place)] != slot || s.Vacant() != 2e9+1 {
				t.Errorf("place %d has slot %d and %d are vacant, want slot %d and 2000000001", int(place), s.ring[int(place)], s.Vacant(), slot)
			}
		})
	}
	t.Run("pop", func(t *testing.T) {
		s := largeFreelist(t)
		s.ring[s.front-1], s.ring[s.front] = 1, 2
		s.front--
		for want := Slot(1); want <= 2; want++ {
			if got, ok := TryPop[int](s); !ok || got != want {
				t.Errorf("popped slot %d, %t, want %d", got, ok, want)
			}
		}
		s.ring[5] = 3
		s.popped(1e8 - 1 + 5) // past the end of the ring
		if got := s.Front(); got != 3 || s.base != 3e9 {
			t.Errorf("the front is slot %d, base %d, want slot 3, base 3000000000", got, s.base)
		}
	})
}
