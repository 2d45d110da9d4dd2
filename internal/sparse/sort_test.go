package sparse_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"
	"weak"

	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Len counts live items, also between DeferSweep and Return.
func TestLen_CountsItemsThatLive(t *testing.T) {
	m, ids := host(t, 20)
	d := filled(ids)
	d.DeferSweep(m)
	for erased := range 10 {
		if n, rows := d.Len(), d.Rows(); n != 20-erased || rows != 20 {
			t.Errorf("%d of 20 items are erased: Len = %d, Rows = %d, want %d and 20", erased, n, rows, 20-erased)
		}
		m.EraseItems(ids[2*erased : 2*erased+1])
	}
	d.Sweep()
	if n, rows := d.Len(), d.Rows(); n != 10 || rows != 10 {
		t.Errorf("after Sweep: Len = %d, Rows = %d, want 10 each", n, rows)
	}
	m.EraseItems(ids[1:2])
	if n := d.Len(); n != 9 {
		t.Errorf("after Sweep and an erase: Len = %d, want 9", n)
	}
	d.Return()
	if n := d.Len(); n != 9 {
		t.Errorf("after Return: Len = %d, want 9", n)
	}
	noError(t, d.Verify(m))
}

// Between DeferSweep and Return, Drop leaves rows alone, so Sweep keeps their order.
func TestSweep_KeepsTheOrderOfDrops(t *testing.T) {
	m, ids := host(t, 10)
	d := filled(ids)
	d.DeferSweep(m)
	for _, i := range []int{0, 4, 9} {
		d.Drop(ids[i])
		m.EraseItems(ids[i : i+1])
		if d.Has(ids[i]) {
			t.Errorf("erased item %d has a value", i)
		}
	}
	d.Return()
	if got, want := d.Owners(0, d.Rows()), slices.Concat(ids[1:4], ids[5:9]); !slices.Equal(got, want) {
		t.Errorf("Owners = %v, want %v", got, want)
	}
	d.Drop(ids[1]) // the last row takes its place
	if got, want := d.Owners(0, d.Rows()), slices.Concat(ids[8:9], ids[2:4], ids[5:8]); !slices.Equal(got, want) {
		t.Errorf("after Drop: Owners = %v, want %v", got, want)
	}
}

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
func TestDrop_FreesValues(t *testing.T) {
	dropAll := func(d *sparse.Map, ids []handle.ID) {
		for _, id := range ids {
			d.Drop(id)
		}
	}
	for name, drop := range map[string]func(d *sparse.Map, host sparse.Host, ids []handle.ID){
		"Drop":                 func(d *sparse.Map, _ sparse.Host, ids []handle.ID) { dropAll(d, ids) },
		"Clear":                func(d *sparse.Map, _ sparse.Host, _ []handle.ID) { d.Clear() },
		"SortAs, then Drop":    func(d *sparse.Map, host sparse.Host, ids []handle.ID) { d.SortAs(host); dropAll(d, ids) },
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
