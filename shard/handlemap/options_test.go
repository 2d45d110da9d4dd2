package handlemap_test

import (
	"strings"
	"testing"

	"handloom/shard/handle"
	"handloom/shard/handlemap"
)

func TestNewNamesEveryFaultOfTheOptions(t *testing.T) {
	setWidths(t, 7, 16)
	for _, bad := range []struct {
		options handlemap.Options
		faults  []string
	}{
		{handlemap.Options{TypeID: 32768}, []string{"TypeID 32768 is outside 0..32767"}},
		{handlemap.Options{TypeID: -1}, []string{"TypeID -1"}},
		{handlemap.Options{Reserve: -1}, []string{"Reserve -1"}},
		{handlemap.Options{Reserve: 17}, []string{"Reserve 17 is outside 0..16"}},
		{handlemap.Options{MinFree: -1}, []string{"MinFree -1"}},
		{handlemap.Options{MinFree: 17}, []string{"MinFree 17"}},
		{handlemap.Options{MaxItems: -1}, []string{"MaxItems -1"}},
		{handlemap.Options{MaxItems: 17}, []string{"MaxItems 17"}},
		{handlemap.Options{Reserve: 5, MaxItems: 4}, []string{"Reserve 5 exceeds MaxItems 4"}},
		{handlemap.Options{-1, -1, -1, -1}, []string{"TypeID -1", "Reserve -1", "MinFree -1", "MaxItems -1"}},
	} {
		m, err := handlemap.New[uint64](bad.options)
		if err == nil || m != nil {
			t.Fatalf("%+v is accepted", bad.options)
		}
		for _, fault := range bad.faults {
			if !strings.Contains(err.Error(), fault) {
				t.Errorf("%+v: %q does not say %q", bad.options, err, fault)
			}
		}
	}
}

func TestTheTypeIDIsInEveryHandle(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		for _, typeID := range []int{0, 1, handle.MaxTypeID} {
			m := newMap[uint64](t, handlemap.Options{TypeID: typeID, Reserve: 4})
			hs := insertN(t, m, 9)
			m.EraseItems(hs[:3])
			insertN(t, m, 3)
			for h := range m.Handles() {
				if int(h.ID.TypeID()) != typeID || int(m.TypeID()) != typeID || h.ID.IsProvisional() {
					t.Errorf("typeId %d: handle %v, map %d", typeID, h, m.TypeID())
				}
			}
		}
	})
}
