package maptest

import (
	"strings"
	"testing"

	"handloom/internal/slotset"
	"handloom/shard/handle"
)

func (s suite) NoForgeryOfAVacantSlotResolves(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 5})
		hs := InsertN(t, m, 12)
		// The freelist becomes 8, 2, 6, 0, with live slots between, so that the
		// front, the middle and the back of it are forged.
		for _, slot := range []int{8, 2, 6, 0} {
			m.Erase(hs[slot])
			hs[slot] = number{}
		}
		for _, slot := range []uint32{8, 2, 6, 0} {
			next := Numbered(5, 2, slot)
			ExpectNothing(t, m, "next generation of a vacant slot", next)
			next.ID |= handle.FreeBit
			ExpectNothing(t, m, "upper half of a vacant slot", next)
			ExpectNothing(t, m, "last generation of a vacant slot", Numbered(5, 1, slot))
		}
		for slot, h := range hs {
			if !h.ID.IsZero() && *m.At(h) != uint64(slot) {
				t.Errorf("%v names %d", h, *m.At(h))
			}
		}
	})
}

func (s suite) NoForgeryOfADepletedSlotResolves(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 5})
		last := deplete(t, m)
		Insert(t, m, 1) // row 0 has an owner, which the depleted slot is not
		ExpectNothing(t, m, "last handle of a depleted slot", last)
		for _, generation := range []uint16{0, 1, slotset.LastGeneration(), slotset.LastGeneration() + 1} {
			forged := Numbered(5, generation, last.ID.Slot())
			ExpectNothing(t, m, "depleted slot", forged)
			forged.ID |= handle.FreeBit
			ExpectNothing(t, m, "depleted slot with its free bit", forged)
		}
	})
}

func (s suite) HandlesThatWereNeverIssuedDoNotResolve(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 5})
		hs := InsertN(t, m, 3)
		for _, forged := range []struct {
			what string
			id   handle.ID
		}{
			{"null", 0},
			{"all ones", ^handle.ID(0)},
			{"slot = len", handle.New(5, 1, 3)},
			{"slot = len + 1", handle.New(5, 1, 4)},
			{"greatest slot", handle.New(5, 1, 1<<32-1)},
			{"slot within capacity", handle.New(5, 1, uint32(m.Cap()-1))},
			{"slot within capacity, all else 0", 5},
			{"another typeId", handle.New(4, 1, 1)},
			{"typeId 0", handle.New(0, 1, 1)},
			{"greatest typeId", handle.New(handle.MaxTypeID, 1, 1)},
			{"generation 0", handle.New(5, 0, 1)},
			{"free bit", hs[1].ID | handle.FreeBit},
			{"free bit alone", handle.FreeBit},
		} {
			ExpectNothing(t, m, forged.what, number{ID: forged.id})
		}
		ExpectNumbers(t, m, hs)
	})
}

func (s suite) OneFlippedBitResolvesOnlyToALiveHandle(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{TypeID: 21})
		hs := InsertN(t, m, 13)
		for _, slot := range []int{3, 4, 9} {
			m.Erase(hs[slot])
		}
		Insert(t, m, 3)
		live := map[number]uint64{}
		for h, v := range m.All() {
			live[h] = *v
		}
		resolved := 0
		for h := range live {
			for bit := range 64 {
				flipped := number{ID: h.ID ^ 1<<bit}
				want, isLive := live[flipped]
				if !isLive {
					ExpectNothing(t, m, "flipped bit", flipped)
				} else if resolved++; *m.At(flipped) != want {
					t.Errorf("%v names %d, not %d", flipped, *m.At(flipped), want)
				}
			}
		}
		if resolved == 0 {
			t.Error("no flipped handle was a live one: the test shows nothing")
		}
	})
}

func (s suite) AnEmptyMapResolvesNothing(t *testing.T) {
	for _, id := range []handle.ID{0, ^handle.ID(0), handle.FreeBit, handle.New(0, 1, 0), handle.New(0, 1, 1<<32-1)} {
		m := s.Numbers.Zero()
		ExpectNothing(t, m, "zero map", number{ID: id})
		Verify(t, m)
	}
}

func (s suite) AtSaysWhatTheSlotHolds(t *testing.T) {
	SetWidths(t, 7, 16)
	m := newMap(t, s.Numbers, Options{TypeID: 5})
	deplete(t, m) // slot 0
	Insert(t, m, 1)
	m.Erase(Insert(t, m, 2)) // slot 2 becomes vacant
	for _, at := range []struct {
		id   handle.ID
		says string
	}{
		{handle.New(5, 3, 1), "handle 5:1.3 names no item: the slot holds 5:1.1; use Get"},
		{handle.New(6, 1, 1), "handle 6:1.1 names no item: it has typeId 6, but it was looked up among handles of typeId 5; use the map that issued it"},
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

func (s suite) RowsAndHandlesLeadToEachOther(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 9)
		m.EraseItems(hs[2:5])
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
		for _, row := range []int{-1, m.Core().Rows(), 1 << 30} {
			if PanicOf(func() { m.HandleAt(row) }) == nil {
				t.Errorf("HandleAt(%d) of %d rows does not panic", row, m.Core().Rows())
			}
		}
	})
}
