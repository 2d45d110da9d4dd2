package items_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"unsafe"
	"weak"

	"handloom/internal/items"
	"handloom/internal/slotset"

	"pgregory.net/rapid"
)

type pair struct {
	name string
	n    int
}

// A Slice and the []T that it is are one.
func TestASliceIsTheSliceOfItsType(t *testing.T) {
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

// The steps do for any type what they say, as a model with plain slices does.
func TestStepsDoWhatTheySay(t *testing.T) {
	steps(t, func(i int) uint8 { return uint8(i) })
	steps(t, func(i int) string { return fmt.Sprint(i) })
	steps(t, func(i int) pair { return pair{fmt.Sprint(i), i} })
	steps(t, func(i int) [3]uint16 { return [3]uint16{uint16(i), 1, uint16(-i)} })
	steps(t, func(int) struct{} { return struct{}{} })
}

func steps[T comparable](t *testing.T, value func(int) T) {
	of := items.For[T]()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		model := make([]T, n)
		for i := range model {
			model[i] = value(i)
		}
		s := of.Make(n)
		of.Copy(s, items.From(model))
		row := func(name string) int { return rapid.IntRange(0, n-1).Draw(t, name) }
		switch a, b := row("a"), row("b"); rapid.IntRange(0, 5).Draw(t, "step") {
		case 0:
			of.Exchange(s, slotset.Row(a), slotset.Row(b))
			model[a], model[b] = model[b], model[a]
		case 1:
			of.Move(s, []slotset.Move{{To: slotset.Row(a), From: slotset.Row(b)}, {To: slotset.Row(b), From: 0}})
			model[a] = model[b]
			model[b] = model[0]
		case 2:
			order := make([]slotset.Row, n)
			gathered := make([]T, n)
			for k, from := range rapid.Permutation(slices.Collect(upTo(n))).Draw(t, "order") {
				order[k], gathered[k] = slotset.Row(from), model[from]
			}
			to := of.Make(rapid.IntRange(0, 2*n).Draw(t, "room"))
			s, model = of.Gather(to, s, order), gathered
		case 3:
			lo, hi := min(a, b), max(a, b)
			of.Clear(s.Sub(lo, hi, of.Size))
			clear(model[lo:hi])
		case 4:
			s = of.Grown(s, n+a)
			model = append(model, make([]T, a)...)
		default:
			of.Set(s.Pointer(a, of.Size), s.Pointer(b, of.Size))
			model[a] = model[b]
			of.Zero(s.Pointer(b, of.Size))
			clear(model[b : b+1])
		}
		if got := *items.As[T](&s); !slices.Equal(got, model) {
			t.Fatalf("%v, want %v", got, model)
		}
		for i, v := range model {
			var zero T
			p := s.Pointer(i, of.Size)
			if of.IsZero(p) != (v == zero) || *of.Any(p).(*T) != v {
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

// A bug in code that keeps a slice must not read or write beside it.
func TestWhatIsOutOfRangePanics(t *testing.T) {
	of := items.For[uint64]()
	s := of.Make(8).Resize(5)
	for what, f := range map[string]func(){
		"an element behind the last": func() { s.Pointer(5, of.Size) },
		"a negative element":         func() { s.Pointer(-1, of.Size) },
		"more than the capacity":     func() { s.Resize(9) },
		"a negative length":          func() { s.Resize(-1) },
		"a part beyond the capacity": func() { s.Sub(0, 9, of.Size) },
		"a part that ends too early": func() { s.Sub(3, 2, of.Size) },
		"room for less than it has":  func() { s.Clip(4) },
		"room beyond the capacity":   func() { s.Clip(9) },
		"a part of a negative start": func() { s.Sub(-1, 2, of.Size) },
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
	if part := s.Sub(8, 8, of.Size); part.Len() != 0 || part.Cap() != 0 {
		t.Errorf("an empty part at the end has %d of %d", part.Len(), part.Cap())
	}
}

// What items point to lives as long as the slice, and not longer.
func TestTheCollectorSeesWhatLiesInASlice(t *testing.T) {
	of := items.For[*[1 << 16]byte]()
	s := of.Make(3)
	kept, dropped := weak.Make(put(s.Pointer(1, of.Size))), weak.Make(put(s.Pointer(2, of.Size)))
	of.Zero(s.Pointer(2, of.Size))
	runtime.GC()
	if kept.Value() == nil || dropped.Value() != nil {
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

func TestPointersAreFoundWhereverTheyAre(t *testing.T) {
	for of, want := range map[reflect.Type]bool{
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
		if got := items.HasPointers(of); got != want {
			t.Errorf("%v: %t", of, got)
		}
	}
}

func TestATypeIsMadeOnce(t *testing.T) {
	first, again, other := items.For[pair](), items.For[pair](), items.For[struct{ name string }]()
	if first != again || first == other {
		t.Error("types are told apart by something else than their type")
	}
}
