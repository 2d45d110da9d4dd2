package slotmap_test

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"weak"

	"handloom/internal/narrow"
	"handloom/shard/handle"
	"handloom/shard/slotmap"
)

// saved is a map that was copied, and what the models knew at the time.
type saved[T any] struct {
	m        slotmap.Map[T]
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
	c.slots, c.vacant = slices.Clone(e.slots), slices.Clone(e.vacant)
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
	if n := len(s.exact.rows()); n > 0 && h.below(8, "panic") == 0 {
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
		for name, other := range map[string]func(t *testing.T) *slotmap.Map[uint64]{
			"zero": func(*testing.T) *slotmap.Map[uint64] { return new(slotmap.Map[uint64]) },
			"another": func(t *testing.T) *slotmap.Map[uint64] {
				m := newMap[uint64](t, slotmap.Options{TypeID: 9, MinFree: 3, MaxItems: 14, Reserve: 14})
				insertN(t, m, 14)
				m.EraseFunc(func(_ number, v *uint64) bool { return *v%3 == 0 })
				return m
			},
			"with more items and room": func(t *testing.T) *slotmap.Map[uint64] {
				m := newMap[uint64](t, slotmap.Options{})
				insertN(t, m, 16)
				return m
			},
			"depleted": func(t *testing.T) *slotmap.Map[uint64] {
				m := newMap[uint64](t, slotmap.Options{})
				deplete(t, m)
				return m
			},
			"shrunk": func(t *testing.T) *slotmap.Map[uint64] {
				m := newMap[uint64](t, slotmap.Options{})
				insertN(t, m, 16)
				m.Clear()
				m.Shrink()
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
	var unused slotmap.Map[uint64]
	m := newMap[uint64](t, slotmap.Options{})
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
	other := newMap[uint64](t, slotmap.Options{})
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

func TestCopyingThereAndBackAllocatesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := newMap[uint64](t, slotmap.Options{})
	hs := insertN(t, m, 10_000)
	var c slotmap.Map[uint64]
	changes := func() {
		for i := range 20 {
			at := r.IntN(len(hs))
			m.Erase(hs[at])
			hs[at] = insert(t, m, uint64(i))
		}
	}
	round := func() {
		m.CopyTo(&c, nil)
		changes()
		c.CopyTo(m, nil)
		changes()
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(50, round); n > 0 {
		t.Errorf("%v objects per round", n)
	}
}

func TestCopyingBackKeepsAddresses(t *testing.T) {
	t.Run("item=number", copyingBackKeepsAddresses(numbers, 5_000))
	t.Run("item=page", copyingBackKeepsAddresses(pages, 200))
}

func copyingBackKeepsAddresses[T any](k kind[T], n int) func(*testing.T) {
	return func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		m := newMap[T](t, slotmap.Options{})
		var c slotmap.Map[T]
		for round := range 20 {
			addresses := maps.Collect(m.All())
			m.CopyTo(&c, nil)
			verify(t, &c)
			before := m.Digest()
			for i := range r.IntN(n) {
				insert(t, m, k.item(uint64(i)))
			}
			m.EraseFunc(func(h handle.Of[T], _ *T) bool { return r.IntN(10) > round%10 })
			clone := func(dst, src *T) { *dst = *src }
			if round%2 == 0 {
				clone = nil
			}
			c.CopyTo(m, clone)
			verify(t, m)
			if m.Digest() != before || m.Len() != len(addresses) {
				t.Fatal("the map copied back differs")
			}
			for h, v := range m.All() {
				if addresses[h] != v {
					t.Fatalf("%v was at %p and is at %p", h, addresses[h], v)
				}
			}
			for i := range r.IntN(n) {
				insert(t, m, k.item(uint64(i)))
			}
		}
	}
}

// Pages that either map gave back, and slots that one has and the other has not.
func TestCopiesOfShrunkMaps(t *testing.T) {
	fill := func(n int, gone func(slot uint32) bool, shrink bool) *slotmap.Map[page] {
		m := newMap[page](t, slotmap.Options{})
		m.EmplaceItems(n, func(i int, _ handle.Of[page], v *page) { v[0] = uint64(i) }, nil)
		m.EraseFunc(func(h handle.Of[page], _ *page) bool { return gone(h.ID.Slot()) })
		if shrink {
			m.Shrink()
		}
		return m
	}
	never := func(uint32) bool { return false }
	var maps []func() *slotmap.Map[page]
	for _, n := range []int{0, 10, 40} {
		for _, gone := range []func(uint32) bool{
			never,
			func(slot uint32) bool { return slot%16 < 8 },
			func(slot uint32) bool { return slot%16 >= 8 },
			func(slot uint32) bool { return slot != 3 },
			func(uint32) bool { return true },
		} {
			maps = append(maps,
				func() *slotmap.Map[page] { return fill(n, gone, false) },
				func() *slotmap.Map[page] { return fill(n, gone, true) })
		}
	}
	for from, a := range maps {
		for to, b := range maps {
			m, c := a(), b()
			var clone func(dst, src *page)
			if (from+to)%2 == 0 {
				clone = func(dst, src *page) { *dst = *src }
			}
			before := m.Digest()
			m.CopyTo(c, clone)
			verify(t, c)
			if c.Digest() != before || m.Digest() != before {
				t.Fatalf("map %d copied over map %d differs", from, to)
			}
			c.Shrink()
			verify(t, c)
			for range 50 {
				if x, y := insert(t, m, page{1}), insert(t, c, page{1}); x != y {
					t.Fatalf("map %d issues %v, its copy over map %d %v", from, x, to, y)
				}
			}
			verify(t, c)
			if m.Digest() != c.Digest() {
				t.Fatalf("map %d and its copy over map %d evolve differently", from, to)
			}
		}
	}
}

func TestACopyTakesNoMoreMemoryThanItems(t *testing.T) {
	m := newMap[page](t, slotmap.Options{Reserve: 1000})
	insert(t, m, page{})
	if bytes := m.Clone().Stats().Bytes; bytes > 40_000 {
		t.Errorf("%d bytes for one item", bytes)
	}
	hs, _ := m.InsertItems(make([]page, 999), nil)
	m.EraseItems(hs)
	m.Shrink()
	var c slotmap.Map[page]
	m.CopyTo(&c, nil)
	full := c.Stats().Bytes
	m.CopyTo(&c, nil)
	if c.Stats().Bytes != full {
		t.Error("a second copy takes more memory")
	}
}

// list is an item that shares memory with its copies by assignment.
type list = []uint64

func cloneList(dst, src *list) { *dst = append((*dst)[:0], *src...) }

func TestCloneMakesItemsIndependentAndUsesTheirMemoryAgain(t *testing.T) {
	m := newMap[list](t, slotmap.Options{})
	for i := range 10 {
		insert(t, m, list{uint64(i), 1, 2})
	}
	var c slotmap.Map[list]
	m.CopyTo(&c, cloneList)
	before := c.Digest()
	if before != m.Digest() {
		t.Fatal("the copy differs")
	}
	for _, v := range m.All() {
		(*v)[1] = 77
	}
	if c.Digest() != before {
		t.Error("a change of the original changed the copy")
	}
	if n := testing.AllocsPerRun(10, func() { m.CopyTo(&c, cloneList) }); n > 0 {
		t.Errorf("%v objects per copy", n)
	}
}

func TestCloneIsCalledForEachItemInOrder(t *testing.T) {
	m := newMap[uint64](t, slotmap.Options{})
	hs := insertN(t, m, 9)
	m.EraseItems(hs[2:5])
	c := newMap[uint64](t, slotmap.Options{})
	insertN(t, c, 7)
	var seen, found []uint64
	m.CopyTo(c, func(dst, src *uint64) {
		seen, found = append(seen, *src), append(found, *dst)
		*dst = *src
	})
	if want := itemsOf(m); !slices.Equal(seen, want) || !slices.Equal(itemsOf(c), want) {
		t.Errorf("cloned %v to %v, want %v", seen, itemsOf(c), want)
	}
	if !slices.Equal(found, []uint64{0, 1, 5, 6, 0, 0}) { // what the rows held, and zero
		t.Errorf("rows held %v", found)
	}
}

func TestACloneThatPanicsLeavesAnEmptyCopy(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m, _ := wornMap(t)
		before := m.Digest()
		for stop := range m.Len() {
			c := newMap[uint64](t, slotmap.Options{TypeID: 5, MinFree: 1})
			insertN(t, c, 16)
			calls := 0
			panicOf(func() {
				m.CopyTo(c, func(dst, src *uint64) {
					if *dst = 99; calls == stop {
						panic("no")
					}
					calls++
					for _, m := range []*slotmap.Map[uint64]{m, c} {
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
	for name, replace := range map[string]func(c *slotmap.Map[*pointee]){
		"by fewer": func(c *slotmap.Map[*pointee]) {
			m := new(slotmap.Map[*pointee])
			insert(t, m, nil)
			m.CopyTo(c, nil)
		},
		"by more": func(c *slotmap.Map[*pointee]) {
			m := new(slotmap.Map[*pointee])
			m.InsertItems(make([]*pointee, 100), nil)
			m.CopyTo(c, nil)
		},
		"by fewer, by clone": func(c *slotmap.Map[*pointee]) {
			m := new(slotmap.Map[*pointee])
			insert(t, m, nil)
			m.CopyTo(c, func(dst, src **pointee) { *dst = *src })
		},
		"by a clone that panics": func(c *slotmap.Map[*pointee]) {
			m := c.Clone()
			panicOf(func() { m.CopyTo(c, func(dst, src **pointee) { panic("no") }) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newMap[*pointee](t, slotmap.Options{})
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
