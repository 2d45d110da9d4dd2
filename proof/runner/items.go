package runner

import (
	"maps"
	"slices"
	"unsafe"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// The items of the tables. Each is converted from and to [model.Item]; fields
// that a type cannot hold are 0 in both. There are two types, because each one
// more compiles for a second: memory without pointers, and one with all that a
// store treats apart from memory.
type (
	word    uint64
	bigItem struct { // 64 bytes; larger items are sorted in another way
		Key    uint64
		Parent store.Handle[bigItem]
		Others struct {
			Small  uint8 // before padding
			Serial uint32
			Links  [1]store.ID
		}
		Links []store.ID          // one
		Set   map[uint64]struct{} // the serial
	}
)

// kind converts and compares items of one type.
type kind[T any] struct {
	make   func(model.Item) T
	read   func(*T) model.Item
	key    func(*T) *uint64        // nil: no key
	serial func(*T) (uint64, bool) // unique; nil: no serial
	keeps  func(model.Item) model.Item
	share  func(dst, src *T)
}

func (k *kind[T]) makeAll(items []model.Item) []T {
	made := make([]T, len(items))
	for i := range items {
		made[i] = k.make(items[i])
	}
	return made
}

// compares converts a comparison of items. It keeps nil, which resets a Defragment.
func (k *kind[T]) compares(compare func(a, b model.Item) int) func(x, y *T) int {
	if compare == nil {
		return nil
	}
	return func(x, y *T) int { return compare(k.read(x), k.read(y)) }
}

// bigLinks visits the handles outside of the item. Handles in fields are found by
// reflection.
func bigLinks(v *bigItem, visit func(*store.ID)) {
	for i := range v.Links {
		visit(&v.Links[i])
	}
}

// cloneBig copies the memory of an item, so that a checkpoint does not share it.
func cloneBig(dst, src *bigItem) {
	*dst = *src
	dst.Links, dst.Set = slices.Clone(src.Links), maps.Clone(src.Set)
}

// keyAlone and everything are the keeps of the kinds. garbled returns an item that no
// program makes.
func keyAlone(i model.Item) model.Item   { return model.Item{Key: i.Key} }
func everything(i model.Item) model.Item { return i }
func garbled(i model.Item) model.Item    { return model.Item{Key: i.Key, Serial: ^i.Serial} }

var wordKind = kind[word]{
	make:  func(i model.Item) word { return word(i.Key) },
	read:  func(w *word) model.Item { return model.Item{Key: uint64(*w)} },
	key:   func(w *word) *uint64 { return (*uint64)(w) },
	keeps: keyAlone,
}

var bigKind = kind[bigItem]{
	make: func(i model.Item) bigItem {
		v := bigItem{
			Key: i.Key, Parent: handleOf[bigItem](i.Links[1]),
			Links: []store.ID{store.ID(i.Links[0])}, Set: map[uint64]struct{}{i.Serial: {}},
		}
		v.Others.Small, v.Others.Serial, v.Others.Links[0] = uint8(i.Serial), uint32(i.Serial), store.ID(i.Links[2])
		return v
	},
	// All copies of the serial must agree, or a part of the item was lost.
	read: func(v *bigItem) model.Item {
		others := v.Others
		if v.Parent.ID|others.Links[0] == 0 && others.Serial == 0 && v.Links == nil && v.Set == nil {
			return model.Item{Key: v.Key} // an element that is not set
		}
		serial := uint64(others.Serial)
		i := model.Item{Key: v.Key, Serial: serial}
		_, has := v.Set[serial]
		if !has || len(v.Set) != 1 || len(v.Links) != 1 || others.Small != uint8(serial) {
			return garbled(i)
		}
		i.Links = [model.Links]uint64{uint64(v.Links[0]), uint64(v.Parent.ID), uint64(others.Links[0])}
		return i
	},
	key:    func(v *bigItem) *uint64 { return &v.Key },
	serial: func(v *bigItem) (uint64, bool) { return uint64(v.Others.Serial), v.Others.Serial > 0 },
	share:  func(dst, src *bigItem) { dst.Links = src.Links },
	keeps:  everything,
}

// chunkRows returns the default number of rows of a chunk: a multiple of 64, at
// least 1,024 rows and 64 KiB.
func chunkRows(item string) int {
	if item == script.Word {
		return chunkRowsOf(unsafe.Sizeof(word(0)))
	}
	return chunkRowsOf(unsafe.Sizeof(bigItem{}))
}

// chunkRowsOf returns the default rows of a chunk for items of a size.
func chunkRowsOf(size uintptr) int {
	rows := 1024
	for uintptr(rows)*size < 64<<10 {
		rows += 64
	}
	return rows
}
