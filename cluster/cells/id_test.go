package cells_test

import (
	"testing"
	"unsafe"

	"handloom/cluster/cells"
	"handloom/store"
)

type ship struct{ Hull int }

func TestRef_BelongsToOneCell(t *testing.T) {
	if size := unsafe.Sizeof(cells.Ref[ship]{}); size != 16 {
		t.Errorf("a Ref has %d bytes", size)
	}
	here, there := cells.NewID(), cells.NewID()
	h := store.Handle[ship]{ID: 1<<48 | 1<<32}
	r := cells.Ref[ship]{Cell: here, Handle: h}
	if got, ok := r.In(here); got != h || !ok {
		t.Errorf("In its cell: %v, %t", got, ok)
	}
	if got, ok := r.In(there); ok || !got.ID.IsZero() {
		t.Errorf("In another cell: %v, %t", got, ok)
	}
	if _, ok := (cells.Ref[ship]{}).In(0); ok {
		t.Error("the zero Ref is in a cell")
	}
	if got, want := r.String(), here.String()+"/"+h.String(); got != want {
		t.Errorf("String: %s, want %s", got, want)
	}
}

func TestParseID_ReadsIDs(t *testing.T) {
	a, b := cells.NewID(), cells.NewID()
	if a == b || a == 0 {
		t.Errorf("drawn: %v, %v", a, b)
	}
	for _, id := range []cells.ID{a, 1, 0xabc} {
		if got, err := cells.ParseID(id.String()); got != id || err != nil {
			t.Errorf("ParseID of %v: %v, %v", id, got, err)
		}
	}
	for _, s := range []string{"", "1", "0000000000000000", "00000000000000AB", "+000000000000001", "0x00000000000001", a.String() + "0"} {
		if got, err := cells.ParseID(s); err == nil {
			t.Errorf("ParseID of %q: %v", s, got)
		}
	}
}
