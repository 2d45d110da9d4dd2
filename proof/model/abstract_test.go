package model

import (
	"strings"
	"testing"
)

func TestAbstract_RefusesImpossibleResolve(t *testing.T) {
	const first = 5<<48 | 1<<32
	create := func(name int) Command {
		return Command{Kind: Create, ID: freeBit | uint64(name), Value: Value{Item: Item{Key: uint64(name)}}}
	}
	erase := Command{Kind: Erase, ID: freeBit | 1}
	for name, tt := range map[string]struct {
		batch   []Command
		answers []uint64 // by create; 0: stale
		left    int      // number of items after a flush without a fault
		want    string   // "": no fault
	}{
		"it lives":                         {[]Command{create(1)}, []uint64{first}, 1, ""},
		"it is erased":                     {[]Command{create(1), erase}, []uint64{0}, 0, ""},
		"it is lost":                       {[]Command{create(1)}, []uint64{0}, 0, "a create of table 0 resolves to nothing"},
		"the second is lost":               {[]Command{create(1), create(2)}, []uint64{first, 0}, 0, "a create of table 0 resolves to nothing"},
		"it is erased, and lives":          {[]Command{create(1), erase}, []uint64{first}, 0, "a create of table 0 that the batch erases resolves to "},
		"two have one handle":              {[]Command{create(1), create(2)}, []uint64{first, first}, 0, "is issued a second time"},
		"its handle is of no such table":   {[]Command{create(1)}, []uint64{6<<48 | 1<<32}, 0, "whose typeIds are 5 to 5"},
		"there are more than the MaxItems": {[]Command{create(1), create(2), create(3)}, []uint64{first, first + 1, first + 2}, 0, "3 items after the flush; MaxItems is 2"},
	} {
		a := NewAbstract([]Table{{TypeID: 5, Shards: 1, Max: 2, Chunk: 4}})
		a.Record(tt.batch, false)
		err := a.Flush(nil, func(_ int, provisional uint64) (uint64, bool) {
			id := tt.answers[provisional&^freeBit-1]
			return id, id != 0
		})
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: the fault is %v; want %q", name, err, tt.want)
		case err == nil && a.Len(0) != tt.left:
			t.Errorf("%s: %d items are left; want %d", name, a.Len(0), tt.left)
		}
	}
}
