package maptest

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/internal/check"
	"handloom/internal/slotset"
)

// A copy has the same items and handles, and issues the same handles next.
func (s suite) CopyTo_EqualsTheOriginal(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		// The options of the original replace the options of the copy.
		for _, o := range []Options{{}, {TypeID: 9, MinFree: 3, MaxItems: 14, Reserve: 14}} {
			m, hs := Worn(t, s.Numbers)
			c := newMap(t, s.Numbers, o)
			// The copy replaces a map with other content, limits and progress of a
			// Defragment.
			InsertN(t, c, 14)
			defragment(c, 20)
			m.CopiedTo(c, nil)
			// The digest has items, slots, freelist and floor.
			if c.Digest() != m.Digest() || c.TypeID() != 6 {
				t.Errorf("the copy over %+v differs", o)
			}
			for _, h := range hs {
				if *c.At(h) != *m.At(h) || c.At(h) == m.At(h) {
					t.Errorf("%v names another item, or the same one", h)
				}
			}
			for m.Len() < 12 { // MaxItems
				// Equal freelists issue equal handles.
				if a, b := Insert(t, m, 7), Insert(t, c, 7); a != b {
					t.Errorf("the original issues %v, the copy %v", a, b)
				}
			}
			// The limits are copied, too.
			expectFull(t, c, 1)
		}
	})
}

// A map without slots has no handle widths yet. Its copy may have room for
// slots.
func (s suite) CopyTo_OfUnusedMapKeepsLimits(t *testing.T) {
	SetWidths(t, 7, 16)
	unused := s.Numbers.Zero()
	m := newMap(t, s.Numbers, Options{})
	InsertN(t, m, 10)
	unused.CopiedTo(m, nil)
	if m.Len() != 0 || m.Core().Stats().Slots != 0 {
		t.Errorf("the copy has %+v", m.Core().Stats())
	}
	deplete(t, m)
	if h := Insert(t, m, 0); h.ID.Slot() != 1 || m.Core().Stats().Depleted != 1 {
		t.Errorf("%v is issued after %d generations", h, slotset.LastGeneration())
	}
	InsertN(t, m, 14)
	if _, err := m.Insert(0); err == nil {
		t.Error("the copy has more slots than there may be")
	}
}

// Neither side of a copy may be inside a callback.
func (s suite) CopyTo_InCallbackPanics(t *testing.T) {
	m, _ := Worn(t, s.Numbers)
	other := newMap(t, s.Numbers, Options{})
	before := m.Digest()
	// EraseFunc makes m busy, the callback copies from m and to m.
	m.EraseFunc(func(number, *uint64) bool {
		if PanicOf(func() { m.CopiedTo(other, nil) }) == nil || PanicOf(func() { other.CopiedTo(m, nil) }) == nil {
			t.Error("CopyTo does not panic")
		}
		return false
	})
	if m.Digest() != before || other.Len() != 0 {
		t.Error("something was copied")
	}
}

func (s suite) CopyTo_ItselfDoesNothing(t *testing.T) {
	m, _ := Worn(t, s.Numbers)
	before := m.Digest()
	m.CopiedTo(m, func(dst, src *uint64) { t.Error("clone is called") })
	if m.Digest() != before {
		t.Error("the map has changed")
	}
}

// Checkpoint and rollback in turn reuse all memory.
func (s suite) CopyTo_BackAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m, c := newMap(t, s.Numbers, Options{}), s.Numbers.Zero()
	InsertN(t, m, 5000)
	// Rows of a stable map may be empty.
	live := func() number {
		for {
			if h := m.HandleAt(r.IntN(m.Core().Rows())); !h.ID.IsZero() {
				return h
			}
		}
	}
	changes := func() {
		for range 20 {
			h := live()
			*m.At(h) = r.Uint64()
			if m, ok := m.(Packed[uint64]); ok {
				m.Touch(h)
			}
			m.Erase(live())
			Insert(t, m, r.Uint64())
		}
		defragment(m, 50)
	}
	round := func() {
		m.CopiedTo(c, nil)
		changes()
		c.CopiedTo(m, nil)
		changes()
	}
	// Arrays reach their final size first.
	for range 50 {
		round()
	}
	// Checked builds and coverage allocate.
	if n := testing.AllocsPerRun(50, round); n > 0 && !check.Cheap && testing.CoverMode() == "" {
		t.Errorf("%v objects per round", n)
	}
}

// list is an item that shares memory with its copies.
type list = []uint64

// cloneList copies into the memory that dst has.
func cloneList(dst, src *list) { *dst = append((*dst)[:0], *src...) }

// The clone function gets the old item of the copy, whose memory it may use again.
func (s suite) Clone_ReusesMemory(t *testing.T) {
	m := newMap(t, s.Lists, Options{})
	for i := range 10 {
		Insert(t, m, list{uint64(i), 1, 2})
	}
	c := s.Lists.Zero()
	m.CopiedTo(c, cloneList)
	before := c.Digest()
	if before != m.Digest() {
		t.Fatal("the copy differs")
	}
	for _, v := range m.All() {
		// A copy that shared memory would change with the original.
		(*v)[1] = 77
	}
	if c.Digest() != before {
		t.Error("a change of the original changed the copy")
	}
	if n := testing.AllocsPerRun(10, func() { m.CopiedTo(c, cloneList) }); n > 0 && !check.Cheap && testing.CoverMode() == "" {
		t.Errorf("%v objects per copy", n)
	}
}

// Clone is called by ascending row, with the old item or zero.
func (s suite) Clone_IsCalledInOrder(t *testing.T) {
	// Fewer and more rows than a packed copy needs.
	for _, held := range []int{4, 7} {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 9)
		m.EraseItems(hs[2:5])
		c := newMap(t, s.Numbers, Options{})
		InsertN(t, c, held) // row i holds the number i
		var seen, found, want []uint64
		for h := range m.All() {
			if row, _ := m.RowOf(h); row < held {
				want = append(want, uint64(row))
			} else {
				want = append(want, 0)
			}
		}
		m.CopiedTo(c, func(dst, src *uint64) {
			seen, found = append(seen, *src), append(found, *dst)
			*dst = *src
		})
		if items := itemsOf(m); !slices.Equal(seen, items) || !slices.Equal(itemsOf(c), items) {
			t.Errorf("cloned %v to %v, want %v", seen, itemsOf(c), items)
		}
		if !slices.Equal(found, want) { // the replaced values, and zero
			t.Errorf("rows held %v, want %v", found, want)
		}
	}
}

// A copy that fails halfway is empty, and the original is unchanged.
func (s suite) Clone_PanicLeavesEmptyCopy(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m, _ := Worn(t, s.Numbers)
		before := m.Digest()
		// The call for each item panics once.
		for stop := range m.Len() {
			c := newMap(t, s.Numbers, Options{TypeID: 5, MinFree: 1})
			InsertN(t, c, 16)
			defragment(c, 9)
			calls := 0
			PanicOf(func() {
				m.CopiedTo(c, func(dst, src *uint64) {
					if *dst = 99; calls == stop {
						panic("no")
					}
					calls++
					// Both maps are busy during the copy.
					for _, m := range []Map[uint64]{m, c} {
						if PanicOf(func() { m.Clear() }) == nil {
							t.Error("a change by clone does not panic")
						}
					}
				})
			})
			Verify(t, c)
			if c.Len() != 0 || c.Core().Stats().Slots != 0 || m.Digest() != before {
				t.Fatalf("the copy has %+v, or the original has changed", c.Core().Stats())
			}
			m.Cloned().CopiedTo(m, nil) // neither map is busy any more
			if first := Insert(t, c, 1); first.ID.Slot() != 0 || first.ID.Generation() != 1 {
				t.Errorf("the empty copy issues %v", first)
			}
		}
	})
}

// The copy keeps no pointer of an item that it replaced.
func (s suite) CopyTo_ReleasesReplacedItems(t *testing.T) {
	by := func(n int, clone func(dst, src **PointerItem)) func(c Map[*PointerItem]) {
		return func(c Map[*PointerItem]) {
			m := s.PointerItems.Zero()
			m.InsertItems(make([]*PointerItem, n), nil)
			m.CopiedTo(c, clone)
		}
	}
	for name, replace := range map[string]func(c Map[*PointerItem]){
		"by fewer": by(1, nil), "by more": by(100, nil), "by fewer, by clone": by(1, func(dst, src **PointerItem) { *dst = *src }),
		"by a clone that panics": func(c Map[*PointerItem]) {
			m := c.Cloned()
			PanicOf(func() { m.CopiedTo(c, func(dst, src **PointerItem) { panic("no") }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newMap(t, s.PointerItems, Options{})
			var refs []weak.Pointer[PointerItem]
			for range 8 {
				_, ref := InsertPointerItem(t, c)
				refs = append(refs, ref)
			}
			replace(c)
			ExpectCollected(t, refs)
			// The map lives, so its items are collected only if it released them.
			runtime.KeepAlive(c)
		})
	}
}
