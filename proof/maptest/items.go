package maptest

import (
	"reflect"
	"testing"

	"handloom/shard/handle"
)

// Random histories go through every operation with each of these kinds; here is
// what a reader wants to see said once.
func (s suite) ItemsOfEveryKind(t *testing.T) {
	t.Run("item=empty", func(t *testing.T) { EachWidth(t, keepsItems(s.Empties, empties)) })
	t.Run("item=number", func(t *testing.T) { EachWidth(t, keepsItems(s.Numbers, numbers)) })
	t.Run("item=Rich", func(t *testing.T) { EachWidth(t, keepsItems(s.Riches, riches)) })
	t.Run("item=Page", func(t *testing.T) { EachWidth(t, keepsItems(s.Pages, pages)) })
}

func keepsItems[T any](maker Maker[T], k kind[T]) func(*testing.T) {
	return func(t *testing.T) {
		m := newMap(t, maker, Options{TypeID: 1})
		var hs []handle.Of[T]
		for i := range uint64(12) {
			hs = append(hs, Insert(t, m, k.item(i)))
		}
		m.EraseItems(hs[4:8])
		for i, h := range hs {
			v, ok := m.Get(h)
			if erased := i >= 4 && i < 8; ok == erased || ok && !reflect.DeepEqual(*v, k.item(uint64(i))) {
				t.Errorf("item %d: %v, %t", i, v, ok)
			}
		}
		if v, ok := m.Take(hs[11]); !ok || !reflect.DeepEqual(v, k.item(11)) || m.Len() != 7 {
			t.Errorf("Take gives %v, %t and leaves %d", v, ok, m.Len())
		}
	}
}
