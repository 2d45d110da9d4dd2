package digest

import (
	"fmt"
	"reflect"
	"testing"
	"unsafe"
)

var sink uint64

func BenchmarkHash(b *testing.B) {
	for _, n := range []int{8, 64, 1 << 10, 64 << 10, 64 << 20} {
		b.Run(fmt.Sprintf("op=bytes/n=%d", n), func(b *testing.B) {
			buf := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				sink = sumOf(buf)
			}
		})
	}
	b.Run("op=uint64/n=1024", func(b *testing.B) {
		b.SetBytes(1024 * 8)
		for b.Loop() {
			var h Hash
			for i := range uint64(1024) {
				h.Uint64(i)
			}
			sink = h.Sum()
		}
	})
}

// BenchmarkDigest digests the same 40-byte items as memory and by walking.
func BenchmarkDigest(b *testing.B) {
	for _, n := range []int{1000, 1_000_000} {
		items := make([]unit, n)
		base := unsafe.Pointer(unsafe.SliceData(items))
		for _, impl := range []struct {
			name   string
			layout layout
		}{{"memory", layout{memory: littleEndian}}, {"walk", walkAll}} {
			b.Run(fmt.Sprintf("op=digest/impl=%s/n=%d", impl.name, n), func(b *testing.B) {
				p := newProgram(reflect.TypeFor[unit](), impl.layout)
				b.SetBytes(int64(n) * int64(unsafe.Sizeof(unit{})))
				for b.Loop() {
					sink = p.sum(base, n)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
			})
		}
	}
}

// BenchmarkTee encodes items for a snapshot, some bytes each in a slice.
func BenchmarkTee(b *testing.B) {
	items := make([][]uint32, 100_000)
	for i := range items {
		items[i] = make([]uint32, i%8)
	}
	b.Run(fmt.Sprintf("op=tee/type=slice/n=%d", len(items)), func(b *testing.B) {
		p := For[[]uint32]()
		for b.Loop() {
			var h Hash
			h.Tee(NewTee(1<<20, func(piece []byte, _ bool) { sink += uint64(len(piece)) }))
			p.Items(&h, items)
			h.Flush()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(items)), "ns/item")
	})
}
