package maptest

import (
	"slices"
	"strings"
	"testing"

	"handloom/handle"
	"handloom/internal/slotset"
)

// Slots are depleted, live and vacant; the freelist becomes 8, 2, 6. No bits name an item
// except its handle (H1, H2).
func (s suite) Get_ResolvesOnlyLiveItems(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 21})
		// Slot 0 is depleted, so hs has the handles by slot.
		depleted := deplete(t, m)
		hs := append([]number{depleted}, InsertN(t, m, 12)...)
		for _, slot := range []int{8, 2, 6} {
			m.Erase(hs[slot])
		}
		// Null, all bits, slots past the end, other typeIds, generations past the last.
		forged := []handle.ID{
			0, ^handle.ID(0), handle.FreeBit, 5,
			handle.New(21, 1, 13), handle.New(21, 1, 14), handle.New(21, 1, 1<<32-1), handle.New(21, 1, uint32(m.Cap()-1)),
			handle.New(0, 1, 1), handle.New(20, 1, 1), handle.New(handle.MaxTypeID, 1, 1), handle.New(21, 0, 1),
			handle.New(21, 0, 0), handle.New(21, 1, 0), handle.New(21, slotset.LastGeneration()+1, 0),
		}
		for _, h := range hs {
			// The word of a vacant slot has the next generation and the free bit: the
			// closest forgery.
			next := handle.New(21, h.ID.Generation()+1, h.ID.Slot())
			forged = append(forged, h.ID, h.ID|handle.FreeBit, next, next|handle.FreeBit)
			for bit := range 64 {
				forged = append(forged, h.ID^1<<bit)
			}
		}
		// A flipped bit may result in the handle of another live item.
		live := make(map[number]uint64)
		for h, v := range m.All() {
			live[h] = *v
		}
		for _, id := range forged {
			h := number{ID: id}
			if want, ok := live[h]; !ok {
				ExpectNothing(t, m, "forged", h)
			} else if *m.At(h) != want {
				t.Errorf("%v names %d, want %d", h, *m.At(h), want)
			}
		}
		ExpectNothing(t, s.Numbers.Zero(), "zero map", number{ID: handle.New(0, 1, 0)})
	})
}

// The panic of At has the state of the slot, so that a log explains the stale handle.
func (s suite) At_DescribesTheSlot(t *testing.T) {
	SetWidths(t, 7, 16)
	m := newMap(t, s.Numbers, Options{TypeID: 5})
	deplete(t, m) // slot 0
	Insert(t, m, 1)
	m.Erase(Insert(t, m, 2))
	for _, at := range []struct {
		id   handle.ID
		says string
	}{
		{handle.New(5, 3, 1), "handle 5:1.3 names no item: the slot holds 5:1.1; use Get"},
		{handle.New(6, 1, 1), "handle 6:1.1 names no item: it has typeId 6, but it was looked up among handles of typeId 5; use the table or map that issued it"},
		{handle.New(6, 1, 99), "handle 6:99.1 names no item: it has typeId 6, but it was looked up among handles of typeId 5; "},
		{handle.New(0, 1, 1), "handle 0:1.1 names no item: it has typeId 0, but it was looked up among handles of typeId 5; "},
		{handle.New(5, 1, 1) | handle.FreeBit, "handle ~5:1.1 names no item: it is provisional; after the flush Resolve"},
		{handle.New(5, 1, 2), "handle 5:2.1 names no item: the slot is vacant, its next handle is 5:2.2; use Get"},
		{handle.New(5, 2, 2) | handle.FreeBit, "handle ~5:2.2 names no item: it is provisional; after the flush Resolve"},
		{handle.New(5, 7, 0), "handle 5:0.7 names no item: the slot is depleted; use Get"},
		{0, "the null handle names no item; use Get"},
		{handle.New(5, 1, 3), "handle 5:3.1 names no item: there is no such slot; use Get"},
		{^handle.ID(0), "handle ~32767:4294967295.65535 names no item: it is provisional; after the flush Resolve"},
	} {
		err, ok := PanicOf(func() { m.At(number{ID: at.id}) }).(*handle.StaleError)
		if !ok || !strings.Contains(err.Error(), at.says) {
			t.Errorf("At panics with %v, want %q", err, at.says)
		}
	}
}

// Rows and handles name each other, and Backward is the reverse of All.
func (s suite) HandleAt_InvertsRowOf(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 9)
		// A packed map fills the gap, a stable map keeps it.
		if n := m.EraseItems(hs[2:5]); n != 3 {
			t.Errorf("EraseItems of 3 items returned %d", n)
		}
		for row := range m.Core().Rows() {
			h := m.HandleAt(row)
			if !s.Packed && row >= 2 && row < 5 {
				if !h.ID.IsZero() {
					t.Errorf("row %d, which is empty, has handle %v", row, h)
				}
				continue
			}
			if back, ok := m.RowOf(h); !ok || back != row || m.At(h) != itemAt(m, row) {
				t.Errorf("row %d has handle %v, which has row %d", row, h, back)
			}
			if !s.Packed && row != int(h.ID.Slot()) {
				t.Errorf("row %d has handle %v, which has another slot", row, h)
			}
		}
		var backward []number
		for h := range m.All() {
			backward = append(backward, h)
		}
		slices.Reverse(backward)
		for h := range m.Backward() {
			if h != backward[0] {
				t.Errorf("Backward yields %v, want %v", h, backward[0])
			}
			backward = backward[1:]
		}
		for _, row := range []int{-1, m.Core().Rows(), 1 << 30} {
			if PanicOf(func() { m.HandleAt(row) }) == nil {
				t.Errorf("HandleAt(%d) of %d rows does not panic", row, m.Core().Rows())
			}
		}
	})
}
