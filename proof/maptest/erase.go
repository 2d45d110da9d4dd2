package maptest

import (
	"testing"
)

func (s suite) EraseItemsOfManyItems(t *testing.T) {
	m := newMap(t, s.Numbers, Options{})
	hs := InsertN(t, m, 20_000) // more than one summary word of 64*64 rows
	var erased, kept []number
	for i, h := range hs {
		if i%7 == 0 || i > 12_000 && i < 17_000 {
			erased = append(erased, h)
		} else {
			kept = append(kept, h)
		}
	}
	if n := m.EraseItems(erased); n != len(erased) || m.Len() != len(kept) {
		t.Fatalf("%d of %d erased, %d of %d left", n, len(erased), m.Len(), len(kept))
	}
	for _, h := range kept {
		if v, ok := m.Get(h); !ok || *v != uint64(h.ID.Slot()) {
			t.Fatalf("%v names %s", h, Describe(v))
		}
	}
	for _, h := range erased {
		if m.Has(h) {
			t.Fatalf("%v resolves after its erase", h)
		}
	}
}
