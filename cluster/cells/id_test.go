package cells_test

import (
	"context"
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
	s, err := store.New(store.Options{})
	noError(t, err)
	out, err := cells.New(s, cells.Options[cells.Ref[ship]]{})
	noError(t, err)
	ships, err := store.Register(s, store.TableOptions[ship]{})
	noError(t, err)
	own := cells.NewID()
	play(t, s, out.Tick, func(w *store.Writer) {
		noError(t, out.Init(w, own))
	}, func(ctx context.Context) error {
		return s.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
			out.Send(q, own, cells.Ref[ship]{Cell: own, Handle: ships.Emplace(q, ship{3})})
			return nil
		})
	})
	submit(t, s, out, out.Pack(own, 0))
	play(t, s, out.Tick, nil, func(context.Context) error {
		for _, r := range out.Received() {
			h, ok := r.In(own)
			if v, found := ships.Get(h); !ok || !found || v.Hull != 3 {
				t.Errorf("%v names nothing", r)
			}
			return nil
		}
		t.Error("nothing was received")
		return nil
	})
}
