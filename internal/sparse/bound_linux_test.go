package sparse

import (
	"math/bits"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"handloom/shard/handle"
)

// wordsAtTheBound returns n-3 words of n, of which those behind the first n-64
// may be touched. The rest is address space alone: 32 GB that take no memory.
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

// Every way to issue the last slots that a handle can name gives the handles that
// Preview says, in whatever order they were vacated: nothing that is reckoned with
// a slot's number carries into the generation beside it.
func TestTheLastSlotsOfAllAreIssuedLikeAnyOther(t *testing.T) {
	words := wordsAtTheBound(t, uint64(SlotLimit()))
	first := Slot(len(words)) // of the last three
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
