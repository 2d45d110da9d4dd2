package digest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// links contains itself, in slices or maps.
type links struct {
	Text  string
	Next  []links
	Named map[uint8]links
}

func linksOf(n int, maps bool) (c links) {
	for range n {
		if maps {
			c = links{Named: map[uint8]links{1: c}}
		} else {
			c = links{Next: []links{c}}
		}
	}
	return c
}

func written(t reflect.Type, item unsafe.Pointer) (b []byte, err error) {
	var h Hash
	tee := NewTee(1<<20, func(piece []byte, _ bool) { b = append(b, piece...) })
	h.Tee(tee)
	Of(t).Items(&h, item, 1)
	h.Flush()
	return b, tee.Err()
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestTee_FailsWhereDecoderFails(t *testing.T) {
	limits := func(name string, typ reflect.Type, item unsafe.Pointer, fits bool) {
		t.Run(name, func(t *testing.T) {
			b, err := written(typ, item)
			if (err == nil) != fits {
				t.Errorf("write: %v, want an error: %t", err, !fits)
			}
			d := NewDecoder(pieces(b, 1<<20))
			Of(typ).Decode(d, reflect.New(typ).UnsafePointer(), 1)
			if (d.Err() == nil) != fits || !fits && !errors.Is(d.Err(), ErrEncoding) {
				t.Errorf("Decode: %v, want an error: %t", d.Err(), !fits)
			}
			d = NewDecoder(pieces(b, 1<<20))
			old, err := ParseSchema(Of(typ).Schema())
			if err != nil {
				return // schemas are at most 100 types deep
			}
			if old.Skip(d, 1); (d.Err() == nil) != fits {
				t.Errorf("Skip: %v, want an error: %t", d.Err(), !fits)
			}
		})
	}
	for _, maps := range []bool{false, true} {
		for n := maxDepth - 3; n <= maxDepth+2; n++ {
			c := linksOf(n, maps) // the innermost has an empty slice and an empty map
			limits(fmt.Sprintf("depth %d, maps %t", n, maps), reflect.TypeFor[links](), unsafe.Pointer(&c), n < maxDepth)
		}
	}
	// Slices around and within the recursive type count.
	type tree struct {
		Kids []tree
		Grid [][]uint8
	}
	type forest struct{ Trees [][]tree }
	for n := maxDepth - 6; n <= maxDepth; n++ {
		c := tree{Grid: [][]uint8{{1}}}
		for range n {
			c = tree{Kids: []tree{c}}
		}
		limits(fmt.Sprintf("depth %d, slices within", n), reflect.TypeFor[tree](), unsafe.Pointer(&c), n+2 <= maxDepth)
		all := forest{[][]tree{{c}}}
		limits(fmt.Sprintf("depth %d, slices around", n), reflect.TypeFor[forest](), unsafe.Pointer(&all), n+4 <= maxDepth)
	}
	// A type that is not recursive can be too deep by itself.
	typ := reflect.TypeFor[uint8]()
	for n := 1; n <= maxDepth+2; n++ {
		typ = reflect.SliceOf(typ)
		if n < maxDepth-2 {
			continue
		}
		item := reflect.New(typ)
		for v := item.Elem(); v.Kind() == reflect.Slice; v = v.Index(0) {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		limits(fmt.Sprintf("%d slices", n), typ, item.UnsafePointer(), n <= maxDepth)
	}
	if testing.Short() {
		return
	}
	for _, more := range []int{-1, 0, 1, 2 << 20} {
		type long struct {
			A []string
			B uint8
		}
		v := long{A: []string{"", strings.Repeat("x", MaxBytes-8-8-8-1+more)}}
		limits(fmt.Sprintf("%d bytes more", more), reflect.TypeFor[long](), unsafe.Pointer(&v), more <= 0)
	}
}

// Pieces are blocks of a snapshot.
func TestDecoder_ScansLongItemsTwice(t *testing.T) {
	for _, n := range []int{10, 100, 1000} {
		const piece = 4 << 10
		texts := slices.Repeat([]string{strings.Repeat("x", 100)}, n*piece/108)
		for name, c := range map[string]struct {
			typ  reflect.Type
			item unsafe.Pointer
		}{
			"strings": {reflect.TypeFor[[]string](), unsafe.Pointer(&texts)},
			"string":  {reflect.TypeFor[string](), unsafe.Pointer(&[]string{strings.Repeat("x", n*piece)}[0])},
		} {
			b, err := written(c.typ, c.item)
			if err != nil {
				t.Fatal(err)
			}
			d := NewDecoder(pieces(b, piece))
			back := reflect.New(c.typ)
			if Of(c.typ).Decode(d, back.UnsafePointer(), 1); d.Err() != nil {
				t.Fatal(d.Err())
			}
			if again := Of(c.typ).stream(back.UnsafePointer(), 1); !bytes.Equal(again, b) {
				t.Errorf("%s: another item is read back", name)
			}
			if d.again > 4*len(b) {
				t.Errorf("%s of %d pieces: %d bytes looked at again, want at most %d", name, n, d.again, 4*len(b))
			}
		}
	}
}

// Enclosing lengths claim bytes.
func TestDecode_PaysForMemoryWithBytes(t *testing.T) {
	type node struct {
		V    uint8
		Kids []node
	}
	var b []byte
	const n = 64 << 10
	for range 990 {
		b = append(b, 1)
		b = binary.LittleEndian.AppendUint64(b, uint64((n-len(b))/9))
	}
	b = append(b, make([]byte, n-len(b))...)
	var in Reader
	in.Reset(b)
	grew := allocated(func() { in.Items(Of(reflect.TypeFor[node]()), unsafe.Pointer(new(node)), 1) })
	if in.Err() == nil || grew > 8*n {
		t.Errorf("%v, %d bytes allocated for %d", in.Err(), grew, n)
	}
}

func TestCodec_BoundedTypesSkipTheLimits(t *testing.T) {
	type padded struct {
		A uint8
		B uint64
	}
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[padded]():                                true,
		reflect.TypeFor[[4]padded]():                             true,
		reflect.TypeFor[struct{ A []padded }]():                  false,
		reflect.TypeFor[[2]struct{ A string }]():                 false,
		reflect.ArrayOf(MaxBytes/9+1, reflect.TypeFor[padded]()): false,
	} {
		if got := Of(typ).bounded; got != want {
			t.Errorf("%v: got %t, want %t", typ, got, want)
		}
	}
}
