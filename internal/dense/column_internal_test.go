package dense

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"handloom/handle"
	"handloom/internal/items"
)

// Elements are small and large, with pointers and without.
func TestColumn_FollowsItems(t *testing.T) {
	elementsStay(t, func(n int) uint32 { return uint32(n) })
	elementsStay(t, func(n int) uint64 { return uint64(n) })
	elementsStay(t, func(n int) string { return fmt.Sprint(n) })
	elementsStay(t, func(n int) [3]uint16 { return [3]uint16{uint16(n), uint16(n >> 16), 7} })
	elementsStay(t, func(n int) [12]uint64 { return [12]uint64{0: uint64(n), 11: 1} })
	elementsStay(t, func(n int) [9]*int { return [9]*int{8: &numbers[n%len(numbers)]} })
	elementsStay(t, func(int) struct{} { return struct{}{} })
}

var numbers [100]int

func elementsStay[C comparable](t *testing.T, element func(n int) C) {
	t.Helper()
	var none C
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := Bind[int](new(Set))
		if seed%2 == 0 {
			m.maxItems = 300
		}
		kind := &Kind{Name: "column", Type: items.For[C]()}
		want := make(map[handle.ID]C)
		for range r.IntN(100) {
			Insert(m, r.IntN(10))
		}
		for step := range 150 {
			if step == int(seed%20) {
				m.AddColumn(kind)
			}
			name := disturb(m, r, 10)
			if r.IntN(10) == 0 {
				Defragment(m, ascending, r.IntN(40))
			}
			if err := m.Verify(); err != nil {
				t.Fatalf("%T, seed %d, after %s: %v", none, seed, name, err)
			}
			if len(m.Columns()) == 0 {
				continue
			}
			c := m.Columns()[0]
			all := Elements[C](c, 0, m.Len())
			for row := range all {
				id := m.IDAt(row)
				if all[row] != want[id] { // zero for a new item
					t.Fatalf("%T, seed %d, after %s: row %d has %v, want %v", none, seed, name, row, all[row], want[id])
				}
				for _, wrong := range []handle.ID{id ^ 1<<32, id ^ 1<<48, id | 1<<63, id + 1<<40} {
					if _, ok := FindColumn[C](c, wrong); ok {
						t.Fatalf("%T, seed %d: %v finds the element of %v", none, seed, wrong, id)
					}
				}
				if r.IntN(5) == 0 {
					all[row] = element(r.IntN(1 << 20))
					want[id] = all[row]
				}
			}
		}
	}
}

// Columns are copied by kind; others become zero.
func TestCopyTo_CopiesColumnsByKind(t *testing.T) {
	a, b := &Kind{"a", items.For[int]()}, &Kind{"b", items.For[int]()}
	m, to := Bind[int](new(Set)), Bind[int](new(Set))
	m.AddColumn(a)
	to.AddColumn(b)
	to.AddColumn(a)
	for i := range 20 {
		Insert(m, i)
		*(*int)(m.Columns()[0].At(i)) = i
		Insert(to, i)
		Insert(to, i)
	}
	for row := range 40 {
		*(*int)(to.Columns()[0].At(row)), *(*int)(to.Columns()[1].At(row)) = 1, 2
	}
	m.CopyTo(to, CloneFuncs{Columns: []func(dst, src unsafe.Pointer){
		func(dst, src unsafe.Pointer) { *(*int)(dst) = *(*int)(src) * 3 },
	}})
	noError(t, to.Verify())
	for row := range 20 {
		if b, a := *(*int)(to.Columns()[0].At(row)), *(*int)(to.Columns()[1].At(row)); b != 0 || a != 3*row {
			t.Errorf("row %d has %d and %d, want 0 and %d", row, b, a, 3*row)
		}
	}
}

func TestCopyTo_PanicLeavesEmptyColumns(t *testing.T) {
	m := Bind[int](new(Set))
	m.AddColumn(&Kind{"a", items.For[int]()})
	for i := range 20 {
		Insert(m, i)
		*(*int)(m.Columns()[0].At(i)) = i + 1
	}
	to := m.EmptyLike()
	m.CopyTo(to, CloneFuncs{})
	func() {
		defer func() { _ = recover() }()
		m.CopyTo(to, CloneFuncs{Columns: []func(dst, src unsafe.Pointer){func(unsafe.Pointer, unsafe.Pointer) { panic("clone") }}})
		t.Error("it did not panic")
	}()
	if err := to.Verify(); err != nil || to.Len() != 0 {
		t.Errorf("%d items, %v", to.Len(), err)
	}
}

func TestColumn_IsInDigest(t *testing.T) {
	m := Bind[int](new(Set))
	m.AddColumn(&Kind{"a", items.For[string]()})
	for i := range 50 {
		Insert(m, i)
		*(*string)(m.Columns()[0].At(i)) = fmt.Sprint(i)
	}
	before, to := m.Digest(), m.EmptyLike()
	in := decoder(encoding(m), 64)
	if to.Load(in); in.Err() != nil || in.Remaining() > 0 || to.Digest() != before {
		t.Errorf("Load: %v, %d bytes left, digest %x, want %x", in.Err(), in.Remaining(), to.Digest(), before)
	}
	*(*string)(m.Columns()[0].At(30)) = "other"
	if m.Digest() == before {
		t.Error("an element does not count")
	}
}

func Elements[C any](c *Column, lo, hi int) []C { return (*items.As[C](&c.all))[lo:hi:hi] }
