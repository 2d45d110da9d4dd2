package digest

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"
	"unsafe"
)

func TestItemsApartAreItems(t *testing.T) {
	checkApart(t, func(r *rand.Rand) uint64 { return r.Uint64() })
	checkApart(t, func(r *rand.Rand) [3]uint8 { return [3]uint8{uint8(r.Uint32()), 1, uint8(r.Uint32())} })
	checkApart(t, func(r *rand.Rand) [64]uint64 { return [64]uint64{5: r.Uint64()} })
	checkApart(t, func(r *rand.Rand) [80]uint64 { return [80]uint64{79: r.Uint64()} })
	checkApart(t, func(r *rand.Rand) string { return string(rune('a' + r.IntN(9))) })
	checkApart(t, func(*rand.Rand) struct{} { return struct{}{} })
}

func checkApart[T any](t *testing.T, draw func(r *rand.Rand) T) {
	t.Helper()
	type cell struct {
		_    uint64
		item T
		_    uint32
	}
	r := rand.New(rand.NewPCG(1, 1))
	p := Of(reflect.TypeFor[T]())
	for _, n := range []int{0, 1, 7, 8, 9, 31, 32, 33, 300, 1000} {
		cells, items := make([]cell, n+1), make([]T, n)
		for i := range n {
			items[i] = draw(r)
			cells[i].item = items[i]
		}
		var got, want Hash
		var bytesOf [2]bytes.Buffer
		for i, h := range []*Hash{&got, &want} {
			h.Tee(NewTee(96, func(piece []byte, _ bool) { bytesOf[i].Write(piece) }))
			h.Uint8(1) // so that blocks do not begin with items
		}
		p.ItemsApart(&got, unsafe.Pointer(&cells[0].item), unsafe.Sizeof(cell{}), n)
		p.Items(&want, unsafe.Pointer(unsafe.SliceData(items)), n)
		sums := [2]uint64{got.Sum(), want.Sum()}
		got.Flush()
		want.Flush()
		if sums[0] != sums[1] || !bytes.Equal(bytesOf[0].Bytes(), bytesOf[1].Bytes()) {
			t.Errorf("%d of %v: %x, and one behind another %x", n, reflect.TypeFor[T](), sums[0], sums[1])
		}
	}
}
