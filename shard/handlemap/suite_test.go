package handlemap_test

import (
	"testing"

	"handloom/handle"
	"handloom/proof/maptest"
	"handloom/shard/handlemap"
)

// Other tests here are specific to this map.
func TestSpecification(t *testing.T) { maptest.Test(t, underTest) }

var underTest = maptest.Maps{
	Name:         "handlemap",
	Packed:       true,
	ErrFull:      handle.ErrFull,
	Numbers:      maker[uint64](),
	Pages:        maker[maptest.Page](),
	PointerItems: maker[*maptest.PointerItem](),
	Lists:        maker[[]uint64](),
}

func maker[T any]() maptest.Maker[T] {
	return maptest.Maker[T]{
		New: func(o maptest.Options) (maptest.Map[T], error) {
			m, err := handlemap.New[T](o)
			if m == nil { // not an interface that holds nil
				return nil, err
			}
			return m, err
		},
		Zero: func() maptest.Map[T] { return new(handlemap.Map[T]) },
	}
}

type number = handle.Of[uint64]

// newMap returns a map that is verified when the test ends.
func newMap[T any](t testing.TB, o handle.Options) *handlemap.Map[T] {
	t.Helper()
	m, err := handlemap.New[T](o)
	if err != nil {
		t.Fatal(err)
	}
	maptest.VerifyAtEnd(t, m)
	return m
}
