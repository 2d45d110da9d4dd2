package suite

import (
	"math/rand/v2"
	"unsafe"
)

// The items, of 8, 32 and 64 bytes without pointers.
type (
	item8  struct{ v uint64 }
	item32 struct{ v, x, y, z uint64 }
	item64 struct {
		v uint64
		_ [7]uint64
	}
	item interface{ item8 | item32 | item64 }
)

// The first word of an item is its value.
var _ [0]struct{} = [unsafe.Offsetof(item8{}.v) + unsafe.Offsetof(item32{}.v) + unsafe.Offsetof(item64{}.v)]struct{}{}

func first[T item](v *T) *uint64 { return (*uint64)(unsafe.Pointer(v)) }

func itemOf[T item](v uint64) (item T) {
	*first(&item) = v
	return item
}

func sizeOf[T item]() int {
	var item T
	return int(unsafe.Sizeof(item))
}

func values[T item](n int) []T {
	vs := make([]T, n)
	for i := range vs {
		vs[i] = itemOf[T](uint64(i))
	}
	return vs
}

func permutation(r *rand.Rand, n int) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	r.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// sink keeps results, so that loops are not optimized away.
var sink uint64
