package runner

import (
	"maps"
	"slices"
	"strconv"
	"unsafe"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// The items of the tables. Each is converted from and to [model.Item]; fields
// that a type cannot hold are 0 in both.
type (
	empty struct{}
	word  uint64
	// linked has a typed handle, untyped handles in an array, and padding.
	linked struct {
		Key    uint64
		Parent store.Handle[linked]
		Small  uint8
		Others struct {
			Serial uint32
			Links  [2]store.ID
		}
	}
	bigItem struct {
		Key     uint64
		Text    string // the serial
		Numbers []uint64
		Links   []store.ID
		Set     map[uint64]struct{} // keys from the serial; digests ignore the values
		Marks   map[uint64]*uint64  // keys from the serial; digests ignore the values
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

func (k *kind[T]) compares(compare func(a, b model.Item) int) func(x, y *T) int {
	if compare == nil {
		return nil
	}
	return func(x, y *T) int { return compare(k.read(x), k.read(y)) }
}

func bigLinks(v *bigItem, visit func(*store.ID)) {
	for i := range v.Links {
		visit(&v.Links[i])
	}
}

func cloneBig(dst, src *bigItem) {
	*dst = bigItem{src.Key, src.Text, slices.Clone(src.Numbers), slices.Clone(src.Links), maps.Clone(src.Set), maps.Clone(src.Marks)}
}

func keyAlone(i model.Item) model.Item   { return model.Item{Key: i.Key} }
func nothing(model.Item) model.Item      { return model.Item{} }
func everything(i model.Item) model.Item { return i }
func garbled(i model.Item) model.Item    { return model.Item{Key: i.Key, Serial: ^i.Serial} }

var emptyKind = kind[empty]{
	make:  func(model.Item) empty { return empty{} },
	read:  func(*empty) model.Item { return model.Item{} },
	keeps: nothing,
}

var wordKind = kind[word]{
	make:  func(i model.Item) word { return word(i.Key) },
	read:  func(w *word) model.Item { return model.Item{Key: uint64(*w)} },
	key:   func(w *word) *uint64 { return (*uint64)(w) },
	keeps: keyAlone,
}

var linkedKind = kind[linked]{
	make: func(i model.Item) linked {
		l := linked{Key: i.Key, Parent: store.Handle[linked]{ID: store.ID(i.Links[0])}, Small: uint8(i.Serial)}
		l.Others.Serial = uint32(i.Serial)
		l.Others.Links = [2]store.ID{store.ID(i.Links[1]), store.ID(i.Links[2])}
		return l
	},
	read: func(l *linked) model.Item {
		i := model.Item{
			Key: l.Key, Serial: uint64(l.Others.Serial),
			Links: [model.Links]uint64{uint64(l.Parent.ID), uint64(l.Others.Links[0]), uint64(l.Others.Links[1])},
		}
		if l.Small != uint8(i.Serial) {
			return garbled(i)
		}
		return i
	},
	key:    func(l *linked) *uint64 { return &l.Key },
	serial: func(l *linked) (uint64, bool) { return uint64(l.Others.Serial), l.Others.Serial > 0 },
	keeps:  everything,
}

var bigKind = kind[bigItem]{
	make: func(i model.Item) bigItem {
		r := bigItem{Key: i.Key, Text: strconv.FormatUint(i.Serial, 10), Numbers: []uint64{i.Serial, ^i.Serial}}
		for _, l := range i.Links {
			r.Links = append(r.Links, store.ID(l))
		}
		r.Set, r.Marks = map[uint64]struct{}{i.Serial: {}}, map[uint64]*uint64{i.Serial: nil}
		return r
	},
	read: func(r *bigItem) model.Item {
		serial, err := strconv.ParseUint(r.Text, 10, 64)
		i := model.Item{Key: r.Key, Serial: serial}
		if len(r.Links) == len(i.Links) {
			for k, l := range r.Links {
				i.Links[k] = uint64(l)
			}
		}
		_, set := r.Set[serial]
		_, mark := r.Marks[serial]
		if !set || !mark || err != nil || len(r.Links) != len(i.Links) || len(r.Numbers) != 2 || r.Numbers[0] != serial || r.Numbers[1] != ^serial {
			return garbled(i)
		}
		return i
	},
	key:   func(r *bigItem) *uint64 { return &r.Key },
	share: func(dst, src *bigItem) { dst.Links = src.Links },
	keeps: everything,
}

// chunkRows returns the default number of rows of a chunk: a multiple of 64, at
// least 1,024 rows and 64 KiB.
func chunkRows(item string) int {
	size := map[string]uintptr{
		script.Empty: unsafe.Sizeof(empty{}), script.Word: unsafe.Sizeof(word(0)),
		script.Linked: unsafe.Sizeof(linked{}), script.Rich: unsafe.Sizeof(bigItem{}),
	}[item]
	return chunkRowsOf(size)
}

func chunkRowsOf(size uintptr) int {
	rows := 1024
	for uintptr(rows)*size < 64<<10 && size > 0 {
		rows += 64
	}
	return rows
}
