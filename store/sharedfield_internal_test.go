package store

import (
	"io"
	"reflect"
	"testing"
	"unsafe"
)

// By reflection alone, because a table of each type would take long to compile.
func TestSharedField_IsNamed(t *testing.T) {
	type inner struct {
		_ [0]*int
		N [2]struct{ f func() }
	}
	for want, typ := range map[string]reflect.Type{
		"[]int of kind slice":                   reflect.TypeFor[[]int](),
		"store.inner.N[0].f of kind func":       reflect.TypeFor[inner](),
		"io.Reader of kind interface":           reflect.TypeFor[io.Reader](),
		"[1]map[string]int[0] of kind map":      reflect.TypeFor[[1]map[string]int](),
		"struct { c chan int }.c of kind chan":  reflect.TypeFor[struct{ c chan int }](),
		"*int of kind ptr":                      reflect.TypeFor[*int](),
		"unsafe.Pointer of kind unsafe.Pointer": reflect.TypeFor[unsafe.Pointer](),
		"struct { s string; p *int }.p of kind ptr": reflect.TypeFor[struct {
			s string
			p *int
		}](),
		"": reflect.TypeFor[struct {
			s string
			a [3]uintptr
			e [0]*int
			h Handle[inner]
			b bool
			c complex64
			f float32
			_ struct{}
		}](),
	} {
		if got := sharedField(typ); got != want {
			t.Errorf("of %v %q is shared, want %q", typ, got, want)
		}
	}
}
