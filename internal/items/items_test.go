package items_test

import (
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"unsafe"
	"weak"

	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/internal/slotset"

	"pgregory.net/rapid"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

type pair struct {
	name string
	n    int
}

// A Slice shares memory with its []T.
func TestSlice_SharesMemory(t *testing.T) {
	all := make([]pair, 3, 5)
	s := items.From(all)
	if s.Len() != 3 || s.Cap() != 5 {
		t.Fatalf("%d of %d", s.Len(), s.Cap())
	}
	back := items.As[pair](&s)
	*back = append(*back, pair{"d", 4})
	if s.Len() != 4 || (*pair)(s.Pointer(3, unsafe.Sizeof(pair{}))).name != "d" || all[:4][3].n != 4 {
		t.Errorf("what is appended to the one is not in the other: %v", *back)
	}
	(*back)[0].n = 7
	if all[0].n != 7 {
		t.Error("they do not share their memory")
	}
}

// The steps equal a model with plain slices.
func TestSteps_EqualModel(t *testing.T) {
	steps(t, func(i int) uint8 { return uint8(i) })
	steps(t, func(i int) string { return fmt.Sprint(i) })
	steps(t, func(i int) pair { return pair{fmt.Sprint(i), i} })
	steps(t, func(i int) [3]uint16 { return [3]uint16{uint16(i), 1, uint16(-i)} })
	steps(t, func(int) struct{} { return struct{}{} })
}

func steps[T comparable](t *testing.T, value func(int) T) {
	typ := items.For[T]()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		model := make([]T, n)
		for i := range model {
			model[i] = value(i)
		}
		s := typ.Make(n)
		typ.Copy(s, items.From(model))
		row := func(name string) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		switch a, b := row("a"), row("b"); rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			typ.Exchange(s, slotset.Row(a), slotset.Row(b))
			model[a], model[b] = model[b], model[a]
		case 1:
			typ.Move(s, []slotset.Move{{To: slotset.Row(a), From: slotset.Row(b)}, {To: slotset.Row(b), From: 0}})
			model[a] = model[b]
			model[b] = model[0]
		case 2:
			order := make([]slotset.Row, n)
			gathered := make([]T, n)
			for k, from := range rapid.Permutation(slices.Collect(upTo(n))).Draw(t, "order") {
				order[k], gathered[k] = slotset.Row(from), model[from]
			}
			to := typ.Make(rapid.IntRange(0, 2*n).Draw(t, "room"))
			s, model = typ.Gather(to, s, order), gathered
		case 3:
			lo, hi := min(a, b), max(a, b)
			typ.Clear(s.Sub(lo, hi, typ.Size))
			clear(model[lo:hi])
		case 4:
			s = typ.Grown(s, n+a)
			model = append(model, make([]T, a)...)
		default:
			typ.Set(s.Pointer(a, typ.Size), s.Pointer(b, typ.Size))
			model[a] = model[b]
			typ.Zero(s.Pointer(b, typ.Size))
			clear(model[b : b+1])
		}
		if got := *items.As[T](&s); !slices.Equal(got, model) {
			t.Fatalf("%v, want %v", got, model)
		}
		for i, v := range model {
			var zero T
			p := s.Pointer(i, typ.Size)
			if typ.IsZero(p) != (v == zero) || *typ.Any(p).(*T) != v {
				t.Fatalf("item %d is taken for zero, or for another: %v", i, v)
			}
		}
	})
}

func upTo(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := 0; i < n && yield(i); i++ {
		}
	}
}

func TestSlice_OutOfRangePanics(t *testing.T) {
	typ := items.For[uint64]()
	s := typ.Make(8).Resize(5)
	for what, f := range map[string]func(){
		"an element past the last":   func() { s.Pointer(5, typ.Size) },
		"a negative element":         func() { s.Pointer(-1, typ.Size) },
		"more than the capacity":     func() { s.Resize(9) },
		"a negative length":          func() { s.Resize(-1) },
		"a part beyond the capacity": func() { s.Sub(0, 9, typ.Size) },
		"a part that ends too early": func() { s.Sub(3, 2, typ.Size) },
		"room for less than it has":  func() { s.Clip(4) },
		"room beyond the capacity":   func() { s.Clip(9) },
		"a part of a negative start": func() { s.Sub(-1, 2, typ.Size) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", what)
				}
			}()
			f()
		}()
	}
	if part := s.Sub(8, 8, typ.Size); part.Len() != 0 || part.Cap() != 0 {
		t.Errorf("an empty part at the end has %d of %d", part.Len(), part.Cap())
	}
}

// The collector keeps exactly the pointees of a slice.
func TestSlice_IsCollected(t *testing.T) {
	typ := items.For[*[1 << 16]byte]()
	s := typ.Make(3)
	kept, dropped := weak.Make(put(s.Pointer(1, typ.Size))), weak.Make(put(s.Pointer(2, typ.Size)))
	typ.Zero(s.Pointer(2, typ.Size))
	if !check.Collected(func() bool { return dropped.Value() == nil }) || kept.Value() == nil {
		t.Errorf("kept: %t, dropped: %t", kept.Value() != nil, dropped.Value() != nil)
	}
	runtime.KeepAlive(s)
}

//go:noinline
func put(p unsafe.Pointer) *[1 << 16]byte {
	data := new([1 << 16]byte)
	*(**[1 << 16]byte)(p) = data
	return data
}

func TestHasPointers_AllKinds(t *testing.T) {
	for typ, want := range map[reflect.Type]bool{
		reflect.TypeFor[struct{ A, B uint64 }]():             false,
		reflect.TypeFor[[4]struct{ F float32 }]():            false,
		reflect.TypeFor[[0]*int]():                           false,
		reflect.TypeFor[[1]*int]():                           true,
		reflect.TypeFor[[1]uint32]():                         false,
		reflect.TypeFor[[2]func()]():                         true,
		reflect.TypeFor[[1][1]struct{ M map[int]int }]():     true,
		reflect.TypeFor[[1][0]string]():                      false,
		reflect.TypeFor[struct{ A [1]*int }]():               true,
		reflect.TypeFor[struct{ A [0]*int }]():               false,
		reflect.TypeFor[struct{}]():                          false,
		reflect.TypeFor[chan int]():                          true,
		reflect.TypeFor[unsafe.Pointer]():                    true,
		reflect.TypeFor[complex128]():                        false,
		reflect.TypeFor[string]():                            true,
		reflect.TypeFor[struct{ A [2]struct{ P []byte } }](): true,
		reflect.TypeFor[any]():                               true,
		reflect.TypeFor[uintptr]():                           false,
	} {
		if got := items.HasPointers(typ); got != want {
			t.Errorf("%v: %t", typ, got)
		}
	}
}

func TestFor_ReturnsOneType(t *testing.T) {
	first, again, other := items.For[pair](), items.For[pair](), items.For[struct{ name string }]()
	if first != again || first == other {
		t.Error("types are told apart by something else than their type")
	}
}
