package history

import (
	"reflect"
	"testing"

	"handloom/store"
)

type linked struct {
	To    [2]store.Handle[int]
	Some  []store.ID
	named map[store.ID][]store.ID
	Count uint64
}

// Handles in arrays, slices and maps change, and the value stays as it was.
func TestWithIDs_ReplacesAllHandles(t *testing.T) {
	value := func(n store.ID) *linked {
		return &linked{
			To:    [2]store.Handle[int]{{ID: n}, {ID: n + 1}},
			Some:  []store.ID{n, n + 2},
			named: map[store.ID][]store.ID{n: {n + 3}, n + 4: nil},
			Count: 5,
		}
	}
	was := value(1)
	got := withIDs(was, func(id store.ID) store.ID { return id + 10 })
	if want := value(11); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(was, value(1)) {
		t.Errorf("got %+v of %+v, want %+v of %+v", got, was, want, value(1))
	}
}
