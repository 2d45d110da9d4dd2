//go:build handloom_check

package handlemap

import (
	"fmt"
	"strings"
	"testing"
)

func TestACheckedMapNamesTheOperationBeforeTheFault(t *testing.T) {
	var m Map[uint64]
	for i := range uint64(10) {
		if _, err := m.Insert(i); err != nil {
			t.Fatal(err)
		}
	}
	m.Erase(m.HandleAt(2))
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

func TestACheckedMapPoisonsTheArrayThatItOutgrew(t *testing.T) {
	var m Map[uint64]
	m.Reserve(8)
	_, _ = m.InsertItems([]uint64{1, 2, 3}, nil)
	old := m.Items()
	m.Reserve(1000)
	if old[0] != 0xDBDBDBDBDBDBDBDB || m.Items()[0] != 1 {
		t.Errorf("the old array holds %x, the new one %x", old[0], m.Items()[0])
	}
	var pointers Map[*uint64]
	v := uint64(7)
	_, _ = pointers.InsertItems([]*uint64{&v}, nil)
	kept := pointers.Items()
	pointers.Reserve(1000)
	if kept[0] != &v {
		t.Error("an array of pointers was poisoned")
	}
}
