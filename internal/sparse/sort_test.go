package sparse_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"
	"weak"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/sparse"
)

type box struct{ data *[1 << 16]byte }

// weakly sets a new box and returns a weak pointer to its data.
//
//go:noinline
func weakly(d *sparse.Map, id handle.ID) weak.Pointer[[1 << 16]byte] {
	v := box{new([1 << 16]byte)}
	d.Set(id, unsafe.Pointer(&v))
	return weak.Make(v.data)
}

// Scratch memory holds no dropped values.
func TestRemove_FreesValues(t *testing.T) {
	dropAll := func(d *sparse.Map, ids []handle.ID) {
		for _, id := range ids {
			d.Remove(id)
		}
	}
	for name, drop := range map[string]func(d *sparse.Map, host sparse.Host, ids []handle.ID){
		"Remove":               func(d *sparse.Map, _ sparse.Host, ids []handle.ID) { dropAll(d, ids) },
		"Clear":                func(d *sparse.Map, _ sparse.Host, _ []handle.ID) { d.Clear() },
		"SortAs, then Remove":  func(d *sparse.Map, host sparse.Host, ids []handle.ID) { d.SortAs(host); dropAll(d, ids) },
		"SortAs, then Clear":   func(d *sparse.Map, host sparse.Host, _ []handle.ID) { d.SortAs(host); d.Clear() },
		"CopyTo of empty data": func(d *sparse.Map, _ sparse.Host, _ []handle.ID) { d.EmptyLike().CopyTo(d, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			m, ids := host(t, 6)
			d := sparse.New(items.For[box]())
			d.Reserve(6, 7)
			var held []weak.Pointer[[1 << 16]byte]
			for i := len(ids) - 1; i >= 0; i-- {
				held = append(held, weakly(d, ids[i]))
			}
			drop(d, m, ids)
			alive := func(p weak.Pointer[[1 << 16]byte]) bool { return p.Value() != nil }
			if !check.Collected(func() bool { return !slices.ContainsFunc(held, alive) }) {
				t.Errorf("value %d is alive after %s", slices.IndexFunc(held, alive), name)
			}
			if n := d.Rows(); n != 0 {
				t.Errorf("Rows = %d, want 0", n)
			}
			runtime.KeepAlive(d)
		})
	}
}

// Reserve makes room in the index for every slot, even if rows have room.
func TestReserve_GrowsTheIndexWithTheSlots(t *testing.T) {
	m, ids := host(t, 1000)
	d := sparse.New(parts)
	d.Reserve(500, 10)
	for i, id := range []handle.ID{ids[0], ids[5], ids[300], ids[999]} {
		slots := int(id.Slot()) + 1
		if got, want := d.HasRoom(1, slots), i < 2; got != want {
			t.Errorf("HasRoom(1, %d) = %t, want %t", slots, got, want)
		}
		d.Reserve(1, slots)
		if !d.HasRoom(1, slots) {
			t.Fatalf("HasRoom(1, %d) = false after Reserve", slots)
		}
		d.Set(id, unsafe.Pointer(&part{N: i}))
	}
	if d.HasRoom(497, 1001) {
		t.Error("HasRoom(497, 1001) = true with 4 rows of 500 used")
	}
	if !d.HasRoom(0, 1<<30) {
		t.Error("HasRoom(0, 1<<30) = false, want true: no row needs an index")
	}
	noError(t, d.Verify(m))
}
