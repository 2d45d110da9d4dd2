package digest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

type (
	family struct {
		Name string
		Kids []family
	}
	gapped struct {
		A uint8
		_ [3]uint8
		B int
		C bool
		D float32
		E struct{}
	}
	assorted struct {
		Text  string
		Nums  []uint16
		Flags [3]bool
		Names []string
		Ages  map[string]int32
		Sets  map[[2]uint8][]string
		Z     complex64
		Small int8
	}
	grown struct{ Items map[string][]grown }
	flags struct {
		A, B bool
		C    [5]bool
		D    uint8
	}
)

// clan contains itself in its first field.
type clan struct {
	Kids  []clan
	Named map[uint8]clan
	V     uint8
}

var decodable = map[reflect.Type]string{
	reflect.TypeFor[uint8]():             "uint8",
	reflect.TypeFor[bool]():              "bool",
	reflect.TypeFor[int]():               "int64",
	reflect.TypeFor[string]():            "string",
	reflect.TypeFor[[]int]():             "[]int64",
	reflect.TypeFor[struct{}]():          "struct{}",
	reflect.TypeFor[flags]():             "struct{A bool; B bool; C [5]bool; D uint8}",
	reflect.TypeFor[gapped]():            "struct{A uint8; B int64; C bool; D float32}",
	reflect.TypeFor[family]():            "struct{Name string; Kids []@2}",
	reflect.TypeFor[[2]family]():         "[2]struct{Name string; Kids []@2}",
	reflect.TypeFor[grown]():             "struct{Items map[string][]@3}",
	reflect.TypeFor[clan]():              "struct{Kids []@2; Named map[uint8]@2; V uint8}",
	reflect.TypeFor[assorted]():          "struct{Text string; Nums []uint16; Flags [3]bool; Names []string; Ages map[string]int32; Sets map[[2]uint8][]string; Z complex64; Small int8}",
	reflect.TypeFor[[2][]flags]():        "[2][]struct{A bool; B bool; C [5]bool; D uint8}",
	reflect.TypeFor[map[int16]uintptr](): "map[int16]uint64",
	// Arrays of length 0 may have elements of any type.
	reflect.TypeFor[map[bool][0]any]():                         "map[bool][0]interface",
	reflect.TypeFor[map[int8][0]*int]():                        "map[int8][0]ptr",
	reflect.TypeFor[map[bool][0]func()]():                      "map[bool][0]func",
	reflect.TypeFor[map[string][0][]struct{}]():                "map[string][0][]struct{}",
	reflect.TypeFor[map[bool][0]map[chan int]unsafe.Pointer](): "map[bool][0]map[chan]unsafe.Pointer",
}

func drawRand(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "values"), 1))
}

func drawItems(r *rand.Rand, typ reflect.Type, n int) reflect.Value {
	items := reflect.MakeSlice(reflect.SliceOf(typ), n, n)
	for i := range n {
		draw(r, items.Index(i), 0)
	}
	return items
}

func draw(r *rand.Rand, v reflect.Value, depth int) {
	n := r.IntN(4)
	if depth > 3 {
		n = 0
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(n > 1)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.Uint64()) >> (64 - v.Type().Bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(r.Uint64() >> (64 - v.Type().Bits()))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.NormFloat64())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(float64(n), 1))
	case reflect.String:
		v.SetString(strings.Repeat(string(rune('a'+n)), r.IntN(20)))
	case reflect.Slice:
		if n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n+r.IntN(2)))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			draw(r, v.Index(i), depth+1)
		}
	case reflect.Map:
		if n > 0 {
			v.Set(reflect.MakeMap(v.Type()))
		}
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			draw(r, key, depth+1)
			draw(r, value, depth+1)
			v.SetMapIndex(key, value)
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			draw(r, reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem(), depth+1)
		}
	case reflect.Interface:
		if n > 0 {
			boxed := reflect.New([]reflect.Type{reflect.TypeFor[assorted](), reflect.TypeFor[*int](), reflect.TypeFor[[]any]()}[n-1]).Elem()
			draw(r, boxed, depth+1)
			v.Set(boxed)
		}
	case reflect.Pointer:
		if n > 1 {
			v.Set(reflect.New(v.Type().Elem()))
		}
	}
}

// pieces returns b in pieces of n bytes.
func pieces(b []byte, n int) func() ([]byte, error) {
	return func() ([]byte, error) {
		if len(b) == 0 {
			return nil, io.ErrUnexpectedEOF
		}
		piece := bytes.Clone(b[:min(n, len(b))])
		b = b[len(piece):]
		return piece, nil
	}
}

// The bytes are decoded in pieces, in memory and by their schema.
func TestCodable_AcceptsDecodableTypes(t *testing.T) {
	known := slices.SortedFunc(maps.Keys(decodable), func(a, b reflect.Type) int { return cmp.Compare(a.String(), b.String()) })
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(append([]reflect.Type{nil}, known...)).Draw(t, "known type")
		if typ == nil {
			typ = drawType(t, 3)
		}
		r := drawRand(t)
		p := newCodec(typ, []layout{{memory: littleEndian}, walkAll}[r.IntN(2)])
		n := r.IntN(40)
		if p.Codable() != nil || p.Empty() || n == 0 {
			t.Skip("the type is refused or without bytes")
		}
		items := drawItems(r, typ, n)
		var b []byte
		var h Hash
		h.Tee(NewTee(32*(1+r.IntN(3)), func(piece []byte, _ bool) { b = append(b, piece...) }))
		p.Items(&h, items.UnsafePointer(), n)
		h.Flush()
		if h.Sum() != p.sum(items.UnsafePointer(), n) || !bytes.Equal(b, p.Append(nil, items.UnsafePointer(), n)) {
			t.Fatalf("%v: the hash gives away other bytes than it takes, or Append appends others", typ)
		}
		var in Reader
		in.Reset(append(bytes.Clone(b), 9))
		d, skipped := NewDecoder(pieces(b, 1+r.IntN(50))), NewDecoder(pieces(b, 1+r.IntN(50)))
		for what, read := range map[string]func(back unsafe.Pointer) error{
			"Decode": func(back unsafe.Pointer) error { p.Decode(d, back, n); return d.Err() },
			"Items":  func(back unsafe.Pointer) error { in.Items(p, back, n); return in.Err() },
		} {
			back := reflect.MakeSlice(items.Type(), n, n)
			err := read(back.UnsafePointer())
			if r.IntN(16) == 0 {
				runtime.GC()
			}
			if again := p.stream(back.UnsafePointer(), n); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("%v: %s: %v, got %x, want %x", typ, what, err, again, b)
			}
		}
		old, err := ParseSchema(p.Schema())
		if err != nil {
			t.Fatalf("%v: %v", typ, err)
		}
		if old.Skip(skipped, n); skipped.Err() != nil || d.Remaining()+skipped.Remaining() > 0 || in.Remaining() != 1 {
			t.Fatalf("%v: Skip: %v, %d, %d and %d bytes left", typ, skipped.Err(), skipped.Remaining(), d.Remaining(), in.Remaining())
		}
	})
}

// Encodings are flipped, truncated and replaced.
func TestDecode_RefusesForgery(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	good, bad := 0, 0
	for typ := range decodable {
		p := Of(typ)
		for range 2000 {
			item := reflect.New(typ)
			draw(r, item.Elem(), 0)
			b := p.stream(item.UnsafePointer(), 1)
			if len(b) == 0 {
				break
			}
			switch r.IntN(3) {
			case 0:
				b[r.IntN(len(b))] ^= 1 << r.IntN(8)
			case 1:
				b = b[:r.IntN(len(b))]
			default:
				for i := range b {
					b[i] = uint8(r.Uint32()) >> r.IntN(9)
				}
			}
			back := reflect.New(typ)
			d := NewDecoder(pieces(b, 16))
			p.Decode(d, back.UnsafePointer(), 1)
			var in Reader
			in.Reset(b)
			if in.Items(p, reflect.New(typ).UnsafePointer(), 1); (in.Err() == nil) != (d.Err() == nil) || in.Err() != nil && !errors.Is(in.Err(), ErrEncoding) {
				t.Fatalf("%v: in pieces %v, in memory %v", typ, d.Err(), in.Err())
			}
			if err := d.Err(); err != nil {
				if bad++; !errors.Is(err, ErrEncoding) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("%v: %v", typ, err)
				}
				continue
			}
			good++
			if again := p.stream(back.UnsafePointer(), 1); len(again) > len(b) || !bytes.Equal(again, b[:len(again)]) {
				t.Fatalf("%v: %v was read from %x, which is not its encoding", typ, back.Elem(), b)
			}
		}
	}
	if good < 1000 || bad < 1000 {
		t.Errorf("%d were read, %d refused", good, bad)
	}
}

func TestDecode_ForgedLengthsAllocateLittle(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[[]uint64](), reflect.TypeFor[string](), reflect.TypeFor[map[string]string](), reflect.TypeFor[[][]string](), reflect.TypeFor[family]()} {
		for _, length := range []uint64{1 << 20, MaxBytes - 1, MaxBytes + 1, 1 << 40, 1<<64 - 1} {
			b := make([]byte, 100)
			binary.LittleEndian.PutUint64(b, length)
			d := NewDecoder(pieces(b, 100))
			grew := allocated(func() { Of(typ).Decode(d, reflect.New(typ).UnsafePointer(), 1) })
			if d.Err() == nil || grew > 64<<10 {
				t.Errorf("%v with length %d: %v, %d bytes", typ, length, d.Err(), grew)
			}
		}
	}
}

func TestReader_Numbers(t *testing.T) {
	var in Reader
	b := binary.AppendUvarint([]byte{7}, 1)
	for _, n := range []uint64{127, 128, 300, 301} {
		b = binary.AppendUvarint(b, n)
	}
	in.Reset(binary.LittleEndian.AppendUint64(b, 1<<63+5))
	if v := in.Uint8(); v != 7 {
		t.Errorf("%d", v)
	}
	for _, want := range []int{1, 127, 128, 300} {
		if n := in.Count(300, "things"); n != want {
			t.Errorf("%d, want %d", n, want)
		}
	}
	rest := in
	if in.Count(300, "things"); !strings.Contains(in.Err().Error(), "301 things; there can be 1 to 300") {
		t.Errorf("%v", in.Err())
	}
	if in.Uint64() != 0 || in.Uint8() != 0 || in.Bytes(1) != nil || in.Remaining() != 0 {
		t.Error("reads after an error return data")
	}
	in = rest
	in.Count(301, "things")
	if in.Uint64() != 1<<63+5 || in.Err() != nil || in.Remaining() != 0 {
		t.Errorf("%v, %d left", in.Err(), in.Remaining())
	}
	for what, read := range map[string]func(in *Reader){
		"a short count past its limit": func(in *Reader) { in.Reset([]byte{11, 1}); in.Count(10, "things") },
		"a count of 0":                 func(in *Reader) { in.Count(10, "things") },
		"a number of too many bytes":   func(in *Reader) { in.Bytes(1); in.Uint64() },
		"less than nothing":            func(in *Reader) { in.Bytes(-1) },
		"too many items":               func(in *Reader) { in.Items(Of(reflect.TypeFor[uint64]()), nil, math.MaxInt) },
		"too many words":               func(in *Reader) { in.Items(Of(reflect.TypeFor[string]()), nil, math.MaxInt) },
	} {
		in.Reset(make([]byte, 8))
		if read(&in); !errors.Is(in.Err(), ErrEncoding) {
			t.Errorf("%s: %v", what, in.Err())
		}
	}
}

func TestCodable_NamesField(t *testing.T) {
	type node struct {
		Next  *family
		Any   any
		Voids []struct{}
	}
	for typ, names := range map[reflect.Type]string{
		reflect.TypeFor[node]():                     "node.Next",
		reflect.TypeFor[struct{ A []any }]():        "A[0]",
		reflect.TypeFor[struct{ F func() }]():       "F",
		reflect.TypeFor[struct{ C [2]chan int }]():  "C[0]",
		reflect.TypeFor[struct{ V []struct{} }]():   "V",
		reflect.TypeFor[struct{ M map[*int]int }](): "M",
		reflect.TypeFor[struct{ M map[int]*int }](): "M[value]",
	} {
		if err := Of(typ).Codable(); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("%v: %v; want it to name %s", typ, err, names)
		}
	}
}

func TestDecode_RefusesOtherBools(t *testing.T) {
	p := Of(reflect.TypeFor[flags]())
	for at := range 8 {
		b := make([]byte, 16)
		b[8+at] = 2
		var f [2]flags
		d := NewDecoder(pieces(b, 16))
		p.Decode(d, unsafe.Pointer(&f), 2)
		if refused := d.Err() != nil; refused != (at < 7) {
			t.Errorf("byte %d is 2: %v", at, d.Err())
		}
	}
}
