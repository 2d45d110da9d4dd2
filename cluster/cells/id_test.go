package cells_test

import (
	"testing"
	"unsafe"

	"handloom/cluster/cells"
	"handloom/store"
)

type ship struct{ Hull int }

func TestARefHas16BytesAndIsOfOneCellAlone(t *testing.T) {
	if size := unsafe.Sizeof(cells.Ref[ship]{}); size != 16 {
		t.Errorf("a Ref has %d bytes", size)
	}
	here, there := cells.NewID(), cells.NewID()
	h := store.Handle[ship]{ID: 1<<48 | 1<<32}
	r := cells.Ref[ship]{Cell: here, Handle: h}
	if got, ok := r.In(here); got != h || !ok {
		t.Errorf("in its cell it is %v, %t", got, ok)
	}
	if got, ok := r.In(there); ok || !got.ID.IsZero() {
		t.Errorf("in another cell it is %v, %t", got, ok)
	}
	if _, ok := (cells.Ref[ship]{}).In(0); ok {
		t.Error("the zero Ref is in a cell")
	}
	if got, want := r.String(), here.String()+"/"+h.String(); got != want {
		t.Errorf("it is called %s, want %s", got, want)
	}
}

func TestIDsAreDrawnAndReadBack(t *testing.T) {
	a, b := cells.NewID(), cells.NewID()
	if a == b || a == 0 {
		t.Errorf("drawn: %v, %v", a, b)
	}
	for _, id := range []cells.ID{a, 1, 0xabc} {
		if got, err := cells.ParseID(id.String()); got != id || err != nil {
			t.Errorf("%v is read as %v, %v", id, got, err)
		}
	}
	for _, s := range []string{"", "1", "0000000000000000", "00000000000000AB", "+000000000000001", "0x00000000000001", a.String() + "0"} {
		if got, err := cells.ParseID(s); err == nil {
			t.Errorf("%q is read as %v", s, got)
		}
	}
}

// A Ref to an item that the same task records is good when the message is shipped.
func TestAProvisionalHandleInAMessageIsMadeReal(t *testing.T) {
	p := newOutbox(t, cells.Options[cells.Ref[ship]]{})
	ships := store.Register(p.Store, store.TableOptions[ship]{})
	p.begin(t)
	noError(t, errorOf(p.tick(func(q store.Queue) {
		p.out.Send(q, p.self, cells.Ref[ship]{Cell: p.self, Handle: ships.Emplace(q, ship{3})})
	})))
	p.submit(t, p.out.Pack(p.self, 0))
	received := p.mustSend(t, p.self)
	if len(received) != 1 {
		t.Fatalf("%d messages were received, want 1", len(received))
	}
	h, ok := received[0].In(p.self)
	if v, found := ships.Get(h); !ok || !found || v.Hull != 3 {
		t.Errorf("%v names nothing", received[0])
	}
}
