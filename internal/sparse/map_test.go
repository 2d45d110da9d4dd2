package sparse_test

import (
	"testing"
	"unsafe"

	"handloom/internal/sparse"
	"handloom/shard/handle"
)

// Any bits may stand in a handle: those that name no item have nothing, also where an int
// has 32 bits and a slot more than it counts to.
func TestForgedHandlesHaveNothing(t *testing.T) {
	_, ids := host(t, 3)
	filled := sparse.New(parts)
	filled.Reserve(1, len(ids))
	filled.Set(ids[1], unsafe.Pointer(&part{N: 1}))
	for what, d := range map[string]*sparse.Map{"none has any": sparse.New(parts), "one has some": filled} {
		for _, bits := range []handle.ID{0, 1 << 31, 1<<32 - 1, ids[1] | 1<<31, ids[1] &^ 1, ^handle.ID(0), ids[0], ids[2]} {
			if v, ok := sparse.Find[part](d, bits); ok || v != nil || d.Has(bits) {
				t.Errorf("%s: %v has %v", what, bits, v)
			}
			if row, ok := d.Row(bits); ok {
				t.Errorf("%s: %v has row %d", what, bits, row)
			}
		}
	}
	if v, ok := sparse.Find[part](filled, ids[1]); !ok || v.N != 1 {
		t.Errorf("the one that has some has %v", v)
	}
}
