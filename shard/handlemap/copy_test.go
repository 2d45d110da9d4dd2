package handlemap_test

import (
	"maps"
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/internal/check"
	"handloom/internal/narrow"
	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

// saved is a map that was copied, and what the models knew at the time.
type saved[T any] struct {
	m        handlemap.Map[T]
	digest   uint64
	abstract *abstractModel
	exact    *exactModel
	issued   []handle.ID
}

func (a *abstractModel) clone() *abstractModel {
	return &abstractModel{live: maps.Clone(a.live), issued: maps.Clone(a.issued)}
}

func (e *exactModel) clone() *exactModel {
	c := *e
	c.slots, c.vacant, c.rows = slices.Clone(e.slots), slices.Clone(e.vacant), slices.Clone(e.rows)
	return &c
}

// unused is the model of a map that was never used.
func (e *exactModel) unused() *exactModel {
	return &exactModel{typeID: e.typeID, last: e.last, limit: e.limit, minFree: e.minFree, maxItems: e.maxItems}
}

// cloner is nil or copies one item; the last of them, number stop, panics.
func (h *history[T]) cloner(stop int) func(dst, src *T) {
	if stop < 0 && h.below(2, "in bulk") == 1 {
		return nil
	}
	return func(dst, src *T) {
		if stop--; stop == -1 {
			panic("no")
		}
		*dst = *src
	}
}

// save copies the map; an earlier copy is gone.
func (h *history[T]) save() {
	if h.saved == nil {
		h.saved = new(saved[T])
	}
	s := h.saved
	before := h.m.Digest()
	h.m.CopyTo(&s.m, h.cloner(-1))
	verify(h, &s.m)
	if s.digest = s.m.Digest(); s.digest != before || h.m.Digest() != before {
		h.Fatal("a copy has another digest than its original")
	}
	s.abstract, s.exact, s.issued = h.abstract.clone(), h.exact.clone(), slices.Clone(h.issued)
}

// restore copies the saved map back; the models go on from there. When clone
// panics, they go on from nothing.
func (h *history[T]) restore() {
	s := h.saved
	if s == nil {
		h.save()
		return
	}
	if n := len(s.exact.rows); n > 0 && h.below(8, "panic") == 0 {
		if panicOf(func() { s.m.CopyTo(h.m, h.cloner(h.below(n, "item"))) }) == nil {
			h.Fatal("nothing panics")
		}
		h.abstract, h.exact, h.issued = newAbstractModel(), h.exact.unused(), nil
		return
	}
	s.m.CopyTo(h.m, h.cloner(-1))
	if h.m.Digest() != s.digest || s.m.Digest() != s.digest {
		h.Fatal("a map copied back has another digest")
	}
	h.abstract, h.exact, h.issued = s.abstract.clone(), s.exact.clone(), slices.Clone(s.issued)
}

func TestACopyOverAnyMapIsLikeTheOriginal(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		for name, other := range map[string]func(t *testing.T) *handlemap.Map[uint64]{
			"zero": func(*testing.T) *handlemap.Map[uint64] { return new(handlemap.Map[uint64]) },
			"another": func(t *testing.T) *handlemap.Map[uint64] {
				m := newMap[uint64](t, handlemap.Options{TypeID: 9, MinFree: 3, MaxItems: 14, Reserve: 14})
				insertN(t, m, 14)
				m.EraseFunc(func(_ number, v *uint64) bool { return *v%3 == 0 })
				return m
			},
			"with more items and room": func(t *testing.T) *handlemap.Map[uint64] {
				m := newMap[uint64](t, handlemap.Options{})
				insertN(t, m, 16)
				return m
			},
			"depleted": func(t *testing.T) *handlemap.Map[uint64] {
				m := newMap[uint64](t, handlemap.Options{})
				deplete(t, m)
				return m
			},
			"being defragmented": func(t *testing.T) *handlemap.Map[uint64] {
				m := newMap[uint64](t, handlemap.Options{})
				insertN(t, m, 15)
				m.Defragment(func(a, b *uint64) int { return ascend(b, a) }, 20)
				return m
			},
		} {
			m, hs := wornMap(t)
			c := other(t)
			m.CopyTo(c, nil)
			verifyAtEnd(t, c)
			if c.Digest() != m.Digest() || c.TypeID() != 6 {
				t.Fatalf("%s: the copy differs", name)
			}
			for _, h := range hs {
				if *c.At(h) != *m.At(h) || c.At(h) == m.At(h) {
					t.Errorf("%s: %v names another item, or the same one", name, h)
				}
			}
			if a, b := lead(m), lead(c); !slices.Equal(a, b) || m.Digest() != c.Digest() {
				t.Errorf("%s: the original issued %v, the copy %v", name, a, b)
			}
		}
	})
}

// A map without slots has not taken the widths of handles yet; the one it is
// copied over has room for slots all the same.
func TestACopyOfAnUnusedMapKnowsItsLimits(t *testing.T) {
	setWidths(t, 7, 16)
	var unused handlemap.Map[uint64]
	m := newMap[uint64](t, handlemap.Options{})
	insertN(t, m, 10)
	unused.CopyTo(m, nil)
	if m.Len() != 0 || m.Stats().Slots != 0 {
		t.Errorf("the copy has %+v", m.Stats())
	}
	deplete(t, m)
	if h := insert(t, m, 0); h.ID.Slot() != 1 || m.Stats().Depleted != 1 {
		t.Errorf("%v is issued after %d generations", h, narrow.LastGeneration)
	}
	insertN(t, m, 14)
	if _, err := m.Insert(0); err == nil {
		t.Error("the copy has more slots than there may be")
	}
}

func TestCopyingFromOrToAMapInItsCallbackPanics(t *testing.T) {
	m, hs := wornMap(t)
	other := newMap[uint64](t, handlemap.Options{})
	before := m.Digest()
	m.Call(hs[0], func(*uint64) {
		if panicOf(func() { m.CopyTo(other, nil) }) == nil || panicOf(func() { other.CopyTo(m, nil) }) == nil {
			t.Error("CopyTo does not panic")
		}
	})
	if m.Digest() != before || other.Len() != 0 {
		t.Error("something was copied")
	}
}

func TestCopyingAMapToItselfDoesNothing(t *testing.T) {
	m, _ := wornMap(t)
	before := m.Digest()
	m.CopyTo(m, func(dst, src *uint64) { t.Error("clone is called") })
	if m.Digest() != before {
		t.Error("the map has changed")
	}
}

// In the middle of a round, and over a map in the middle of another.
func TestACopyGoesOnDefragmenting(t *testing.T) {
	m, _ := large(t, 100)
	c, _ := large(t, 120)
	for _, m := range []*handlemap.Map[uint64]{m, c} {
		finish(t, m, 0)
		for row := 5; row < 100; row += 3 {
			*m.At(m.HandleAt(row)) = uint64(row) * 37 % 100
			m.Touch(m.HandleAt(row))
		}
	}
	for done := false; !done; {
		_, _, done = step(t, m, 1)
		for range 3 {
			step(t, c, 1)
		}
		m.CopyTo(c, nil)
		verify(t, c)
		if c.Digest() != m.Digest() {
			t.Fatal("the copy knows something else")
		}
		a, b := m.Clone(), newMap[uint64](t, handlemap.Options{})
		c.CopyTo(b, nil)
		if x, y := countCalls(a), countCalls(b); x != y || a.Digest() != b.Digest() {
			t.Fatalf("%d and %d comparisons", x, y)
		}
	}
}

func TestCopyingThereAndBackAllocatesNothing(t *testing.T) {
	m, r := large(t, 1000)
	var c handlemap.Map[uint64]
	changes := func() {
		for range 20 {
			h := m.HandleAt(r.IntN(m.Len()))
			*m.At(h) = r.Uint64()
			m.Touch(h)
			m.Erase(m.HandleAt(r.IntN(m.Len())))
			insert(t, m, r.Uint64())
		}
		m.Defragment(ascend, 50)
	}
	round := func() {
		m.CopyTo(&c, nil)
		changes()
		c.CopyTo(m, nil)
		changes()
	}
	for range 50 {
		round()
	}
	if n := testing.AllocsPerRun(50, round); n > 0 && !check.Full {
		t.Errorf("%v objects per round", n)
	}
}

func TestCopiesOfAGrowingMapRarelyAllocate(t *testing.T) {
	var m, c handlemap.Map[uint64]
	moved, at := 0, (*uint64)(nil)
	for i := range 10_000 {
		insert(t, &m, uint64(i))
		m.CopyTo(&c, nil)
		if first := &c.Items()[0]; first != at {
			moved, at = moved+1, first
		}
	}
	if moved > 20 {
		t.Errorf("10,000 copies took %d arrays", moved)
	}
}

// list is an item that shares memory with its copies by assignment.
type list = []uint64

func cloneList(dst, src *list) { *dst = append((*dst)[:0], *src...) }

func TestCloneMakesItemsIndependentAndUsesTheirMemoryAgain(t *testing.T) {
	m := newMap[list](t, handlemap.Options{})
	for i := range 10 {
		insert(t, m, list{uint64(i), 1, 2})
	}
	var c handlemap.Map[list]
	m.CopyTo(&c, cloneList)
	before := c.Digest()
	if before != m.Digest() {
		t.Fatal("the copy differs")
	}
	for _, v := range m.Items() {
		v[1] = 77
	}
	if c.Digest() != before {
		t.Error("a change of the original changed the copy")
	}
	if n := testing.AllocsPerRun(10, func() { m.CopyTo(&c, cloneList) }); n > 0 {
		t.Errorf("%v objects per copy", n)
	}
}

func TestCloneIsCalledForEachItemInOrder(t *testing.T) {
	m := newMap[uint64](t, handlemap.Options{})
	hs := insertN(t, m, 9)
	m.EraseItems(hs[2:5])
	c := newMap[uint64](t, handlemap.Options{})
	insertN(t, c, 4)
	var seen, found []uint64
	m.CopyTo(c, func(dst, src *uint64) {
		seen, found = append(seen, *src), append(found, *dst)
		*dst = *src
	})
	if _, want := contents(m); !slices.Equal(seen, want) || !slices.Equal(c.Items(), want) {
		t.Errorf("cloned %v to %v, want %v", seen, c.Items(), want)
	}
	if !slices.Equal(found, []uint64{0, 1, 2, 3, 0, 0}) { // what the rows held, and zero
		t.Errorf("rows held %v", found)
	}
}

func TestACloneThatPanicsLeavesAnEmptyCopy(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m, _ := wornMap(t)
		before := m.Digest()
		for stop := range m.Len() {
			c := newMap[uint64](t, handlemap.Options{TypeID: 5, MinFree: 1})
			insertN(t, c, 16)
			c.Defragment(ascend, 9)
			calls := 0
			panicOf(func() {
				m.CopyTo(c, func(dst, src *uint64) {
					if *dst = 99; calls == stop {
						panic("no")
					}
					calls++
					for _, m := range []*handlemap.Map[uint64]{m, c} {
						if panicOf(func() { m.Clear() }) == nil {
							t.Error("a change by clone does not panic")
						}
					}
				})
			})
			verify(t, c)
			if c.Len() != 0 || c.Stats().Slots != 0 || m.Digest() != before {
				t.Fatalf("the copy has %+v, or the original has changed", c.Stats())
			}
			m.Clone().CopyTo(m, nil) // neither is busy any more
			if first := insert(t, c, 1); first.ID.Slot() != 0 || first.ID.Generation() != 1 {
				t.Errorf("the empty copy issues %v", first)
			}
		}
	})
}

func TestWhatACopyReplacesIsCollected(t *testing.T) {
	for name, replace := range map[string]func(c *handlemap.Map[*pointee]){
		"by fewer": func(c *handlemap.Map[*pointee]) {
			m := new(handlemap.Map[*pointee])
			insert(t, m, nil)
			m.CopyTo(c, nil)
		},
		"by more": func(c *handlemap.Map[*pointee]) {
			m := new(handlemap.Map[*pointee])
			m.InsertItems(make([]*pointee, 100), nil)
			m.CopyTo(c, nil)
		},
		"by fewer, by clone": func(c *handlemap.Map[*pointee]) {
			m := new(handlemap.Map[*pointee])
			insert(t, m, nil)
			m.CopyTo(c, func(dst, src **pointee) { *dst = *src })
		},
		"by a clone that panics": func(c *handlemap.Map[*pointee]) {
			m := c.Clone()
			panicOf(func() { m.CopyTo(c, func(dst, src **pointee) { panic("no") }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newMap[*pointee](t, handlemap.Options{})
			var refs []weak.Pointer[pointee]
			for range 8 {
				_, ref := insertPointee(t, c)
				refs = append(refs, ref)
			}
			replace(c)
			expectCollected(t, refs)
			runtime.KeepAlive(c)
		})
	}
}
