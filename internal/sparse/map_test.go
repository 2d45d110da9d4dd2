package sparse_test

import (
	"testing"

	"handloom/handle"
	"handloom/internal/sparse"
)

// Handles of any bits without data find nothing, also where an int has 32 bits.
func TestFind_ForgedHandles(t *testing.T) {
	_, ids := host(t, 3)
	one := filled(ids[1:2])
	for what, d := range map[string]*sparse.Map{"none has any": sparse.New(parts), "one has some": one} {
		for _, bits := range []handle.ID{0, 1 << 31, 1<<32 - 1, ids[1] | 1<<31, ids[1] &^ 1, ^handle.ID(0), ids[0], ids[2]} {
			if v, ok := sparse.Find[part](d, bits); ok || v != nil || d.Has(bits) {
				t.Errorf("%s: %v has %v", what, bits, v)
			}
			if row, ok := d.Row(bits); ok {
				t.Errorf("%s: %v has row %d", what, bits, row)
			}
		}
	}
	if v, ok := sparse.Find[part](one, ids[1]); !ok || v.N != 0 {
		t.Errorf("the one that has some has %v", v)
	}
}
