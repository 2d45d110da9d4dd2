package digest

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"handloom/internal/check"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

var walkAll = layout{memory: false}

func digestOf[T any](items ...T) uint64 {
	var h Hash
	For[T]().Items(&h, items)
	return h.Sum()
}

// newCodec returns a codec for t.
func newCodec(t reflect.Type, l layout) *Codec {
	p := new(Codec)
	p.init(t, l)
	return p
}

func (p *Codec) stream(base unsafe.Pointer, n int) []byte {
	w := p.walker(nil)
	defer p.release(w)
	w.buf = p.root.appendItems(w, w.buf, base, n)
	return slices.Clone(w.buf)
}

func (p *Codec) sum(base unsafe.Pointer, n int) uint64 {
	var h Hash
	p.Items(&h, base, n)
	return h.Sum()
}

func checkItems(t rapid.TB, items reflect.Value) {
	t.Helper()
	base, n := items.UnsafePointer(), items.Len()
	want := encodeElements(items)
	for _, l := range []layout{{memory: littleEndian}, walkAll} {
		p := newCodec(items.Type().Elem(), l)
		if got := p.stream(base, n); !bytes.Equal(got, want) {
			t.Errorf("%v, %+v: encoding\n% x, want\n% x", items.Type(), l, got, want)
		}
		if got := p.sum(base, n); got != sumOf(want) {
			t.Errorf("%v, %+v: sum %#x, want %#x", items.Type(), l, got, sumOf(want))
		}
	}
}

type point struct{ X, Y, Z float32 }

type padded struct {
	A uint8
	B uint32
	C uint16
}

type typed[T any] struct {
	_  [0]*T
	ID uint64
}

type unit struct {
	Pos, Vel point
	Target   typed[unit]
	Life     uint32
	Team     uint8
	alive    bool
	flags    [2]uint8
}

type everything struct {
	name    string
	On      bool
	I       int
	I8      int8
	U       uint
	U16     uint16
	P       uintptr
	F       float64
	C       complex64
	D       complex128
	Where   [3]point
	Tags    []string
	Raw     []byte
	scores  map[string]int32
	Any     any
	Text    fmt.Stringer
	Next    *everything
	Call    func()
	Wire    chan int
	Raw2    unsafe.Pointer
	_       int64
	Empty   struct{}
	None    [0]string
	Nested  struct{ a, b padded }
	Matrix  [2][2]int
	Handles []typed[unit]
	padded
}

func sampleEverything() []everything {
	return []everything{{}, {
		name: "a name", On: true, I: -5, I8: -1, U: 7, U16: 0x0102, P: 9, F: math.Pi, C: complex(1, -2), D: complex(3, 4),
		Where: [3]point{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, Tags: []string{"x", "", "yz"}, Raw: []byte("raw bytes"),
		scores: map[string]int32{"b": 2, "a": 1, "": 3}, Any: padded{1, 2, 3}, Text: time.Second,
		Next: new(everything), Call: func() {}, Wire: make(chan int), Raw2: unsafe.Pointer(new(int)),
		Nested: struct{ a, b padded }{padded{1, 2, 3}, padded{4, 5, 6}}, Matrix: [2][2]int{{1, -2}, {3, -4}},
		Handles: []typed[unit]{{ID: 1}, {ID: 2}}, padded: padded{7, 8, 9},
	}}
}

func TestItems_EncodeAsDocumented(t *testing.T) {
	nan := math.Copysign(math.NaN(), -1) // differs from NaN
	checkItems(t, reflect.ValueOf(sampleEverything()))
	checkItems(t, reflect.ValueOf([]point{{1, 2, 3}, {4, 5, 6}}))
	checkItems(t, reflect.ValueOf([]unit{{Life: 3, alive: true}, {Team: 1, flags: [2]uint8{1, 2}}}))
	checkItems(t, reflect.ValueOf([]string{"", "a", strings.Repeat("long", 5000)}))
	checkItems(t, reflect.ValueOf([]any{nil, 1, "two", 3.0, []int{4}, map[any]any{5: "five", "six": 6}, new(int), any(nil)}))
	checkItems(t, reflect.ValueOf([]error{nil, &time.ParseError{}}))
	checkItems(t, reflect.ValueOf([][]byte{nil, {}, []byte("abc"), make([]byte, 3*spillBytes)}))
	checkItems(t, reflect.ValueOf([]bool{true, false}))
	checkItems(t, reflect.ValueOf([]int{-1, 0, math.MaxInt}))
	checkItems(t, reflect.ValueOf([]uint{0, math.MaxUint}))
	checkItems(t, reflect.ValueOf([][0]string{{}, {}}))
	checkItems(t, reflect.ValueOf([]map[[2]string]bool{{{"a", "b"}: true, {"a", ""}: false}}))
	checkItems(t, reflect.ValueOf([]map[float64]int{{math.NaN(): 3, nan: 1}, {nan: 2}}))
	checkItems(t, reflect.ValueOf([]map[*int]int{{nil: 1, new(int): 2}, {new(int): 0}}))
	checkItems(t, reflect.ValueOf([]map[struct{}]string{{{}: "a"}, {}}))
	checkItems(t, reflect.ValueOf([]map[*int]struct{}{{nil: {}}, {}}))
	checkItems(t, reflect.ValueOf([]any{map[int]struct{}{1: {}, 2: {}}, [1]func(){}, []int(nil), [][0]nest{{}}}))
	checkItems(t, reflect.ValueOf([]time.Time{{}, time.Unix(1, 2).UTC()}))
	checkItems(t, reflect.ValueOf([][1 << 20]struct{}{{}, {}}))
	leaf := tree{Name: "leaf"}
	root := tree{
		Name: "root", Kids: []tree{leaf, {Kids: []tree{leaf}}}, Named: map[string]tree{"b": leaf, "a": {}},
		Other: leaf, Pairs: [][2]tree{{leaf, {}}},
	}
	root.Up = &root
	checkItems(t, reflect.ValueOf([]tree{root, leaf}))
	checkItems(t, reflect.ValueOf([]nest{{}, {{}, {{}}}}))
	checkItems(t, reflect.ValueOf([]chain{{"a": {"b": nil}, "c": {}}}))
}

// A change here changes stored digests.
func TestItems_EncodingsArePinned(t *testing.T) {
	type mixed struct {
		A    int8
		B    int
		C    bool
		D    string
		_    uint32
		E    []uint16
		F    *int
		G    [2]float32
		H    map[uint8]bool
		I, J any
	}
	for _, c := range []struct {
		name   string
		sum    uint64
		stream string
		want   uint64
	}{
		{"nothing", digestOf[point](), "", 0x6646841769918d3f},
		{"floats", digestOf(point{1, -2, 0}), "\x00\x00\x80\x3f" + "\x00\x00\x00\xc0" + "\x00\x00\x00\x00", 0x0c9b5c848f0ee9b0},
		{"padding", digestOf(padded{1, 2, 3}), "\x01" + "\x02\x00\x00\x00" + "\x03\x00", 0xf0d795846027f04b},
		{"widened", digestOf(-2), "\xfe\xff\xff\xff\xff\xff\xff\xff", 0xbd972ea86c9b6417},
		{"string", digestOf("abc"), "\x03\x00\x00\x00\x00\x00\x00\x00" + "abc", 0xe74b46033bba47a3},
		{
			"mixed",
			digestOf(mixed{
				A: -1, B: 258, C: true, D: "hi", E: []uint16{1, 2}, F: new(int), G: [2]float32{1, 2},
				H: map[uint8]bool{9: false, 3: true}, J: uint16(7),
			}),
			"\xff" +
				"\x02\x01\x00\x00\x00\x00\x00\x00" +
				"\x01" +
				"\x02\x00\x00\x00\x00\x00\x00\x00" + "hi" +
				"\x02\x00\x00\x00\x00\x00\x00\x00" + "\x01\x00" + "\x02\x00" +
				"\x00\x00\x80\x3f" + "\x00\x00\x00\x40" +
				"\x02\x00\x00\x00\x00\x00\x00\x00" + "\x03\x01" + "\x09\x00" +
				"\x00" +
				"\x01" + "\x06\x00\x00\x00\x00\x00\x00\x00" + "uint16" + "\x07\x00",
			0xaaab4d0dce8f455c,
		},
	} {
		if got := sumOf([]byte(c.stream)); got != c.sum {
			t.Errorf("%s: digest %#016x, but the sum of the documented bytes is %#016x", c.name, c.sum, got)
		}
		if c.sum != c.want {
			t.Errorf("%s: digest %#016x, want %#016x", c.name, c.sum, c.want)
		}
	}
}

func isMemory[T any]() bool { return layout{memory: littleEndian}.isMemory(reflect.TypeFor[T]()) }

func TestMemory_Types(t *testing.T) {
	if !littleEndian {
		t.Skip("no type is a memory type on a big-endian machine")
	}
	wide := unsafe.Sizeof(int(0)) == 8
	for _, c := range []struct {
		typ       string
		got, want bool
	}{
		{"uint8", isMemory[uint8](), true},
		{"point", isMemory[point](), true},
		{"unit, with typed handle and unexported fields", isMemory[unit](), true},
		{"typed handle", isMemory[typed[string]](), true},
		{"[4]complex128", isMemory[[4]complex128](), true},
		{"struct{}", isMemory[struct{}](), true},
		{"[0]string", isMemory[[0]string](), true},
		{"int", isMemory[int](), wide},
		{"[2]uintptr", isMemory[[2]uintptr](), wide},
		{"padded", isMemory[padded](), false},
		{"trailing padding", isMemory[struct {
			A uint32
			B uint8
		}](), false},
		{"trailing struct{}, which adds padding", isMemory[struct {
			A uint32
			B struct{}
		}](), false},
		{"blank field", isMemory[struct{ A, _ uint32 }](), false},
		{"pointer", isMemory[*int](), false},
		{"string", isMemory[string](), false},
		{"any", isMemory[any](), false},
		{"slice in struct", isMemory[struct{ A []uint8 }](), false},
	} {
		if c.got != c.want {
			t.Errorf("Memory of %s is %v, want %v", c.typ, c.got, c.want)
		}
	}
}

type tree struct {
	Name  string
	Kids  []tree
	Named map[string]tree
	Other any
	Pairs []([2]tree)
	Up    *tree
}

type nest []nest

type chain map[string]chain

func drawType(t *rapid.T, depth int) reflect.Type {
	scalars := append(
		[]reflect.Type{
			reflect.TypeFor[int](), reflect.TypeFor[uint](), reflect.TypeFor[uintptr](), reflect.TypeFor[float64](),
			reflect.TypeFor[complex64](), reflect.TypeFor[point](), reflect.TypeFor[unit](),
		}, randomBasics...,
	)
	others := []reflect.Type{
		reflect.TypeFor[any](), reflect.TypeFor[*int](), reflect.TypeFor[func()](),
		reflect.TypeFor[padded](), reflect.TypeFor[map[string]int16](), reflect.TypeFor[struct{}](),
	}
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	switch {
	case depth == 0 || kind < 3:
		return rapid.SampledFrom(scalars).Draw(t, "scalar")
	case kind == 3:
		return rapid.SampledFrom(others).Draw(t, "other")
	case kind == 4:
		return reflect.ArrayOf(rapid.IntRange(0, 3).Draw(t, "length"), drawType(t, depth-1))
	case kind == 5:
		return reflect.SliceOf(drawType(t, depth-1))
	case kind == 6:
		return reflect.MapOf(rapid.SampledFrom(scalars).Draw(t, "key"), drawType(t, depth-1))
	}
	fields := make([]reflect.StructField, rapid.IntRange(0, 6).Draw(t, "fields"))
	for i := range fields {
		fields[i] = reflect.StructField{Name: fmt.Sprintf("F%d", i), Type: drawType(t, depth-1)}
		if rapid.IntRange(0, 9).Draw(t, "blank") == 0 {
			fields[i].Name, fields[i].PkgPath = "_", "handloom/internal/digest"
		}
	}
	return reflect.StructOf(fields)
}

func TestItems_RandomTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		typ := drawType(t, 3)
		checkItems(t, drawItems(drawRand(t), typ, rapid.IntRange(0, 5).Draw(t, "items")))
	})
}

func TestItems_SpillInOrder(t *testing.T) {
	items := make([]tree, 3000)
	for i := range items {
		items[i].Name = strings.Repeat("x", i%37)
		if i%500 == 0 {
			items[i].Other = bytes.Repeat([]byte{byte(i)}, 3*spillBytes)
			items[i].Named = map[string]tree{"long": {Name: strings.Repeat("y", 2*spillBytes)}, "a": {}}
		}
	}
	checkItems(t, reflect.ValueOf(items))
}

func TestPlan_Concurrent(t *testing.T) {
	items := append(sampleEverything(), everything{Any: sampleEverything()[1].scores, Text: time.Minute})
	want := digestOf(items...)
	p := For[everything]()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				var h Hash
				p.Items(&h, items)
				if got := h.Sum(); got != want {
					t.Errorf("digest %#x, want %#x", got, want)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestItems_AllocateNothing(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	items := make([]padded, 1000)
	p := For[padded]()
	h := new(Hash)
	p.Items(h, items)
	// A collection may empty the pool.
	if n := testing.AllocsPerRun(100, func() { p.Items(h, items) }); n > 5 {
		t.Errorf("%v allocations for 1000 items, want about 0", n)
	}
}
