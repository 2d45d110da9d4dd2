//go:build handloom_check

package dense

import (
	"fmt"
	"strings"
	"testing"

	"handloom/handle"
	"handloom/internal/items"
)

func TestChecked_NamesOperationBeforeFault(t *testing.T) {
	m := Bind[uint64](new(Set))
	for i := range uint64(10) {
		if _, err := Insert(m, i); err != nil {
			t.Fatal(err)
		}
	}
	Erase(m, handle.Of[uint64]{ID: m.IDAt(2)})
	m.meta[0], m.meta[1] = m.meta[1], m.meta[0]
	defer func() {
		message := fmt.Sprint(recover())
		for _, word := range []string{"S2", "before Clear", "operation before was Erase", "typeId 0"} {
			if !strings.Contains(message, word) {
				t.Errorf("%q does not say %q", message, word)
			}
		}
	}()
	m.Clear()
}

func TestChecked_PoisonsOldArray(t *testing.T) {
	m := Bind[uint64](new(Set))
	m.Reserve(8)
	_, _ = m.InsertItems(items.From([]uint64{1, 2, 3}), nil)
	old := Items[uint64](m)
	m.Reserve(1000)
	if old[0] != 0xDBDBDBDBDBDBDBDB || Items[uint64](m)[0] != 1 {
		t.Errorf("the old array holds %x, the new one %x", old[0], Items[uint64](m)[0])
	}
	pointers := Bind[*uint64](new(Set))
	v := uint64(7)
	_, _ = pointers.InsertItems(items.From([]*uint64{&v}), nil)
	kept := Items[*uint64](pointers)
	pointers.Reserve(1000)
	if kept[0] != &v {
		t.Error("an array of pointers was poisoned")
	}
}
