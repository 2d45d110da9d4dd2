package dense

import (
	"testing"

	"handloom/handle"
	"handloom/internal/items"
)

// The batch needs three blocks of moves.
func TestEraseItems_MovesItemsAndElements(t *testing.T) {
	d, err := New(items.For[uint64](), handle.Options{})
	noError(t, err)
	c := d.AddColumn(&Kind{Name: "column", Type: items.For[uint64]()})
	all := make([]uint64, 5000)
	for i := range all {
		all[i] = uint64(i)
	}
	ids, err := d.InsertItems(items.From(all), nil)
	noError(t, err)
	copy(Elements[uint64](c, 0, len(all)), all)
	const erased = 2200
	if n := d.EraseItems(ids[:erased]); n != erased {
		t.Errorf("%d erased, want %d", n, erased)
	}
	for i := erased; i < len(ids); i++ {
		row, ok := d.RowOf(ids[i])
		if !ok || Items[uint64](d)[row] != all[i] || Elements[uint64](c, row, row+1)[0] != all[i] {
			t.Fatalf("item %d is not at row %d", i, row)
		}
	}
	noError(t, d.Verify())
}
