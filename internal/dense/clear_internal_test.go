package dense

import (
	"testing"
	"unsafe"

	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
)

// From the second Clear on meta set and freelist exchange arrays.
func TestClear_RefillAllocatesNothing(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	d, err := New(items.For[uint64](), handle.Options{Reserve: 100})
	noError(t, err)
	values, handles := items.From(make([]uint64, 100)), make([]handle.ID, 0, 100)
	bytes := int64(0)
	if n := testing.AllocsPerRun(10, func() {
		handles, _ = d.InsertItems(values, handles[:0])
		d.Clear()
		for range 100 {
			_, _ = Insert(d, uint64(7))
		}
		d.Clear()
		bytes = d.Stats().Bytes
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
	if want := int64(100 * (8 + 4 + 8 + 4)); bytes != want {
		t.Errorf("%d bytes, want %d", bytes, want)
	}
	noError(t, d.Verify())
}

// Room is made again in the meta set that a Clear took.
func TestClear_LeavesRoom(t *testing.T) {
	for _, c := range []struct {
		name string
		room func(d *Set)
	}{
		{"ReserveMore", func(d *Set) { d.ReserveMore(90) }},
		{"Reserve", func(d *Set) { d.Reserve(90) }},
		{"CopyTo", func(d *Set) { full(t).CopyTo(d, CloneFuncs{}); d.EraseItems(idsOf(d)) }},
		{"Insert", func(d *Set) { h, _ := Insert(d, uint64(1)); Erase(d, h) }},
	} {
		d := full(t)
		if d.Clear(); d.HasRoom(1) || d.Cap() != 100 {
			t.Fatalf("room for one more is %t, of %d", d.HasRoom(1), d.Cap())
		}
		if c.room(d); !d.HasRoom(90) || d.HasRoom(101) || d.Verify() != nil {
			t.Errorf("%s: room for 90 is %t, for 101 %t; %v", c.name, d.HasRoom(90), d.HasRoom(101), d.Verify())
		}
		if n := testing.AllocsPerRun(1, func() {
			for range 40 {
				_, _ = Insert(d, uint64(7))
			}
		}); n != 0 && !check.Cheap && testing.CoverMode() == "" {
			t.Errorf("%s: %g allocations", c.name, n)
		}
	}
}

// full returns a map without spare room.
func full(t *testing.T) *Set {
	t.Helper()
	d, err := New(items.For[uint64](), handle.Options{Reserve: 100, MaxItems: 120})
	if err == nil {
		_, err = d.InsertItems(items.From(make([]uint64, 100)), nil)
	}
	noError(t, err)
	return d
}

func idsOf(d *Set) (ids []handle.ID) {
	d.All(func(id handle.ID, _ unsafe.Pointer) bool { ids = append(ids, id); return true })
	return ids
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
