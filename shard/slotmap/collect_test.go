package slotmap_test

import (
	"runtime"
	"testing"
	"weak"

	"handloom/shard/handle"
	"handloom/shard/slotmap"
)

// pointee is what the items point at; it is too large and has a pointer too
// many to share an allocation with another object.
type pointee struct {
	_    *pointee
	data [64]byte
}

type holder = handle.Of[*pointee]

func TestWhatErasedItemsHeldIsCollected(t *testing.T) {
	for name, erase := range map[string]func(m *slotmap.Map[*pointee], hs []holder){
		"Erase": func(m *slotmap.Map[*pointee], hs []holder) {
			for _, h := range hs {
				m.Erase(h)
			}
		},
		"Take": func(m *slotmap.Map[*pointee], hs []holder) {
			for _, h := range hs {
				m.Take(h)
			}
		},
		"EraseItems": func(m *slotmap.Map[*pointee], hs []holder) { m.EraseItems(hs) },
		"EraseFunc": func(m *slotmap.Map[*pointee], hs []holder) {
			m.EraseFunc(func(h holder, _ **pointee) bool { return h.ID.Slot() < uint32(len(hs)) })
		},
		"Clear": func(m *slotmap.Map[*pointee], _ []holder) { m.Clear() },
		"Reset": func(m *slotmap.Map[*pointee], _ []holder) { m.Reset() },
	} {
		t.Run(name, func(t *testing.T) {
			m := newMap[*pointee](t, slotmap.Options{Reserve: 16})
			var hs []holder
			var refs []weak.Pointer[pointee]
			for range 8 {
				h, ref := insertPointee(t, m)
				hs, refs = append(hs, h), append(refs, ref)
			}
			_, kept := insertPointee(t, m)
			erase(m, hs)
			expectCollected(t, refs)
			if m.Len() == 1 && kept.Value() == nil {
				t.Error("the pointee of a live item is collected")
			}
			runtime.KeepAlive(m)
		})
	}
}

func TestWhatAPanickingInsertHeldIsCollected(t *testing.T) {
	m := newMap[*pointee](t, slotmap.Options{Reserve: 16})
	var refs []weak.Pointer[pointee]
	fill := func(v **pointee) {
		*v = newPointee()
		refs = append(refs, weak.Make(*v))
	}
	panicOf(func() {
		m.InsertFunc(func(_ holder, v **pointee) { fill(v); panic("no") })
	})
	panicOf(func() {
		m.EmplaceItems(5, func(i int, _ holder, v **pointee) {
			if fill(v); i == 3 {
				panic("no")
			}
		}, nil)
	})
	if len(refs) != 5 {
		t.Fatalf("%d pointees made, want 5", len(refs))
	}
	expectCollected(t, refs)
	runtime.KeepAlive(m)
}

//go:noinline
func newPointee() *pointee { return &pointee{data: [64]byte{1}} }

//go:noinline
func insertPointee(t *testing.T, m *slotmap.Map[*pointee]) (holder, weak.Pointer[pointee]) {
	p := newPointee()
	return insert(t, m, p), weak.Make(p)
}

func expectCollected(t *testing.T, refs []weak.Pointer[pointee]) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	for i, ref := range refs {
		if ref.Value() != nil {
			t.Errorf("pointee %d of %d is still held", i, len(refs))
		}
	}
}
