package maptest

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"testing"

	"handloom/handle"
)

// expectFull fails the test unless every insert of n items returns ErrFull and
// changes nothing.
func expectFull(t *testing.T, m Map[uint64], n int) {
	t.Helper()
	// A failed insert must not even grow the map.
	before, capacity := m.Digest(), m.Cap()
	dst := make([]number, 1, 100)
	called := false
	items, err1 := m.InsertItems(make([]uint64, n), dst)
	// No callback may run before the limit is checked.
	emplaced, err2 := m.EmplaceItems(n, func(int, number, *uint64) { called = true }, dst)
	errs := []error{err1, err2, m.Core().CanInsert(n, 0, 0)}
	if n == 1 {
		h1, err1 := m.Insert(1)
		h2, err2 := m.InsertFunc(func(number, *uint64) { called = true })
		errs = append(errs, err1, err2)
		if !h1.ID.IsZero() || !h2.ID.IsZero() {
			t.Errorf("handles %v and %v from a full map", h1, h2)
		}
	}
	for i, err := range errs {
		if !errors.Is(err, handle.ErrFull) {
			t.Errorf("insert of %d items: error %d is %v", n, i, err)
		}
	}
	if called || len(items) != 1 || len(emplaced) != 1 {
		t.Errorf("callback called: %t; handles returned: %d and %d, want 1", called, len(items), len(emplaced))
	}
	if m.Digest() != before || m.Cap() != capacity {
		t.Errorf("a failed insert of %d items changed the map", n)
	}
}

// Both packages have one ErrFull, so a caller needs one test.
func (s suite) ErrFull_IsShared(t *testing.T) {
	if s.ErrFull != handle.ErrFull {
		t.Errorf("ErrFull is %v", s.ErrFull)
	}
}

// On 32 bits, such numbers are below the slot limit, and their sums overflow.
func (s suite) Limits_RefuseIntOverflow(t *testing.T) {
	for _, o := range []Options{{}, {MaxItems: 1}, {MaxItems: 9}, {MaxItems: 9, MinFree: 2}} {
		m := newMap(t, s.Numbers, o)
		InsertN(t, m, 1)
		before, capacity := m.Digest(), m.Cap()
		for _, n := range []int{math.MaxInt, math.MaxInt - 1, math.MaxInt - 9, math.MaxInt/2 + 1} {
			_, err := m.EmplaceItems(n, func(int, number, *uint64) { t.Error("an item is filled in") }, nil)
			for _, err := range []error{err, m.Core().CanInsert(n, 0, 0), m.Core().CanInsert(n, 1, 0), m.Core().CanInsert(n, 1, 1)} {
				if !errors.Is(err, handle.ErrFull) || o.MaxItems > 0 != strings.Contains(err.Error(), "MaxItems") {
					t.Errorf("%+v: %d items: %v", o, n, err)
				}
			}
			// Without MaxItems the call would allocate up to the slot limit.
			if o.MaxItems > 0 {
				m.Reserve(n)
				m.Core().ReserveMore(n)
				capacity = max(capacity, m.Cap())
			}
		}
		if m.Digest() != before || m.Cap() != capacity || m.Len() != 1 {
			t.Errorf("%+v: the map has changed", o)
		}
	}
}

// The limit is exact: the last item fits, and no bulk insert takes a part.
func (s suite) Insert_FailsWhenFull(t *testing.T) {
	SetWidths(t, 7, 16)
	for _, maxItems := range []int{0, 1, 15} {
		m := newMap(t, s.Numbers, Options{MaxItems: maxItems})
		// Without MaxItems the slots are the limit.
		limit := cmp.Or(maxItems, 16)
		InsertN(t, m, limit-1)
		expectFull(t, m, 2)
		InsertN(t, m, 1)
		expectFull(t, m, 1)
		c := m.Cloned()
		// Memory given back must not raise the limit.
		c.Shrink()
		expectFull(t, c, 1)
	}
}

// Reserved capacity is not part of the state: the same handles follow.
func (s suite) Reserve_KeepsSlots(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 8)
		m.EraseItems(hs[2:6])
		before, slots := m.Digest(), m.Core().Stats().Slots
		m.Reserve(14)
		if m.Digest() != before || m.Core().Stats().Slots != slots {
			t.Error("Reserve changed more than capacity")
		}
		// From here on every insert uses reserved memory.
		bytes := m.Core().Stats().Bytes
		for i := range 10 { // four vacant slots, then new slots
			h := Insert(t, m, 0)
			if i < 4 && h != Numbered(0, 2, uint32(2+i)) || i >= 4 && h != Numbered(0, 1, uint32(4+i)) {
				t.Errorf("insert %d after Reserve gives %v", i, h)
			}
		}
		if m.Core().Stats().Bytes != bytes || m.Cap() < 14 {
			t.Errorf("inserts into reserved room grew the map from %d to %d bytes", bytes, m.Core().Stats().Bytes)
		}
		m.Reserve(0)
		if m.Cap() < 14 {
			t.Error("Reserve gave room back")
		}
		if msg := PanicOf(func() { m.Reserve(-1) }); msg != s.Name+": Reserve of -1 items; n must not be negative" {
			t.Errorf("Reserve(-1) panics with %v", msg)
		}
	})
}

// HasRoom and ReserveMore agree, as a flush needs.
func (s suite) ReserveMore_MakesRoom(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		for _, minFree := range []int{0, 2} {
			m := newMap(t, s.Numbers, Options{MinFree: minFree})
			m.EraseItems(InsertN(t, m, 8)[3:6])
			before := m.Digest()
			m.Core().ReserveMore(7)
			if m.Digest() != before || !m.Core().HasRoom(7) {
				t.Error("ReserveMore changed more than capacity, or too little")
			}
			bytes := m.Core().Stats().Bytes
			InsertN(t, m, 7)
			if m.Core().Stats().Bytes != bytes {
				t.Errorf("inserts into reserved room grew the map from %d to %d bytes", bytes, m.Core().Stats().Bytes)
			}
			grown := m.Cap() - m.Core().Rows()
			if !s.Packed { // a stable map already has rows of vacant slots
				grown += m.Core().Stats().Vacant
			}
			// The room is exact: a flush that trusts it must not allocate.
			if m.Core().HasRoom(grown + 1) {
				t.Error("HasRoom promises more than there is")
			}
			if msg := PanicOf(func() { m.Core().ReserveMore(-1) }); msg != s.Name+": ReserveMore of -1 items; n must not be negative" {
				t.Errorf("ReserveMore(-1) panics with %v", msg)
			}
		}
	})
}

// Capacity that no item may use is not allocated.
func (s suite) Reserve_StopsAtLimits(t *testing.T) {
	SetWidths(t, 7, 32)
	for _, o := range []Options{{}, {MaxItems: 9}} {
		for _, reserve := range []func(Map[Page]){
			func(m Map[Page]) { m.Reserve(1 << 30) },
			func(m Map[Page]) { m.Core().ReserveMore(1 << 30) },
		} {
			m := newMap(t, s.Pages, o)
			m.InsertItems(make([]Page, 3), nil)
			reserve(m)
			limit := max(o.MaxItems, 9)
			if grown := map[bool]int{true: 9, false: 16}[s.Packed]; m.Cap() < limit || m.Cap() > 32 || o.MaxItems > 0 && m.Cap() > grown {
				t.Errorf("%+v: room for %d items", o, m.Cap())
			}
			if m.Core().HasRoom(33) || m.Core().HasRoom(1<<30) {
				t.Error("HasRoom promises more than slots allow")
			}
		}
	}
}

// An insert of no items succeeds even in a full map.
func (s suite) InsertItems_OfNothing(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{MaxItems: 1})
		InsertN(t, m, 1)
		before := m.Digest()
		a, err1 := m.InsertItems(nil, nil)
		b, err2 := m.EmplaceItems(0, nil, nil)
		if err1 != nil || err2 != nil || a != nil || b != nil || m.Digest() != before {
			t.Errorf("got %v, %v and %v, %v", a, err1, b, err2)
		}
		if msg := PanicOf(func() { m.EmplaceItems(-1, nil, nil) }); msg != s.Name+": EmplaceItems of -1 items; n must not be negative" {
			t.Errorf("a negative count panics with %v", msg)
		}
	})
}

// Reused rows are zeroed.
func (s suite) InsertFunc_ItemsAreZero(t *testing.T) {
	// Each way in which a row loses its item.
	for what, erase := range map[string]func(m Map[uint64], hs []number){
		"Erase": func(m Map[uint64], hs []number) {
			for _, h := range hs {
				m.Erase(h)
			}
		},
		"EraseItems": func(m Map[uint64], hs []number) { m.EraseItems(hs) },
		"EraseFunc":  func(m Map[uint64], _ []number) { m.EraseFunc(func(number, *uint64) bool { return true }) },
		"Clear":      func(m Map[uint64], _ []number) { m.Clear() },
		"a panic": func(m Map[uint64], _ []number) {
			PanicOf(func() {
				m.EmplaceItems(9, func(i int, _ number, v *uint64) {
					if *v = 7; i == 8 {
						panic("no more")
					}
				}, nil)
			})
		},
		"CopyTo": func(m Map[uint64], _ []number) { newMap(t, s.Numbers, Options{}).CopiedTo(m, nil) },
	} {
		m := newMap(t, s.Numbers, Options{Reserve: 16})
		hs, _ := m.InsertItems([]uint64{1, 2, 3, 4, 5, 6}, nil)
		erase(m, hs[1:])
		_, err := m.EmplaceItems(9, func(i int, h number, v *uint64) {
			if *v != 0 {
				t.Errorf("after %s, item %d (%v) is %d before it is filled in", what, i, h, *v)
			}
		}, nil)
		if err != nil {
			t.Error(err)
		}
	}
}
