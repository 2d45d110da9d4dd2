package store

import (
	"encoding"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
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
