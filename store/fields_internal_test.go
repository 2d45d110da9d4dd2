package store

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

func TestFields_HiddenHandlesAreNamed(t *testing.T) {
	for says, typ := range map[string]reflect.Type{
		".Target is of type interface {}": reflect.TypeFor[struct{ Target any }](),
		".In[0].Name is of type fmt.Stringer": reflect.TypeFor[struct {
			In [2]struct{ Name fmt.Stringer }
		}](),
		".ByKey[] is of type interface {}":            reflect.TypeFor[struct{ ByKey map[string]any }](),
		".Keys[key] is of type interface {}":          reflect.TypeFor[struct{ Keys map[any]int }](),
		".Read[] is of type encoding.TextUnmarshaler": reflect.TypeFor[struct{ Read *encoding.TextUnmarshaler }](),
		".Mail[] is a handle inside a channel":        reflect.TypeFor[struct{ Mail chan ID }](),
		".Order is of type interface { Slot() uint32 }": reflect.TypeFor[struct {
			Order interface{ Slot() uint32 }
		}](),
		"interface {} is of type interface {}": reflect.TypeFor[any](),
	} {
		_, err := handleFields(typ, false, "TableOptions.Links")
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "TableOptions.Links") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v; want it to say %q and TableOptions.Links, once", err, says)
		}
		if _, err := handleFields(typ, true, "TableOptions.Links"); err != nil {
			t.Errorf("declared: %v", err)
		}
	}
}

func TestFields_InterfacesWithoutHandlesAreAccepted(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[error](), reflect.TypeFor[io.Reader](), reflect.TypeFor[func(any) ID](),
		reflect.TypeFor[interface {
			fmt.Stringer
			io.Reader
		}](),
		reflect.TypeFor[interface{ Slot() int }](),
		reflect.TypeFor[interface{ String() []byte }](),
	} {
		if offsets, err := handleFields(typ, false, "TableOptions.Links"); err != nil || len(offsets) > 0 {
			t.Errorf("%v: %v, %v", typ, offsets, err)
		}
	}
}

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
