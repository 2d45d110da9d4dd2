package handlemap_test

import (
	"errors"
	"fmt"

	"handloom/handle"
	"handloom/shard/handlemap"
)

type ship struct {
	Name string
	Hull int
}

func Example() {
	// region map
	m, err := handlemap.New[ship](handle.Options{TypeID: 7, Reserve: 100})
	if err != nil {
		panic(err)
	}
	argo, _ := m.Insert(ship{"Argo", 40})
	beagle, _ := m.Insert(ship{"Beagle", 30})
	m.At(beagle).Hull = 25
	m.Erase(argo)

	_, ok := m.Get(argo)
	fmt.Println("argo is there:", ok)
	endeavour, _ := m.Insert(ship{"Endeavour", 50})
	fmt.Println("same slot, next generation:", argo, endeavour)
	for h, s := range m.All() {
		fmt.Println(h, s.Name, s.Hull)
	}
	// endregion

	// Output:
	// argo is there: false
	// same slot, next generation: 7:0.1 7:0.2
	// 7:1.1 Beagle 25
	// 7:0.2 Endeavour 50
}

func ExampleNew() {
	_, err := handlemap.New[ship](handle.Options{TypeID: 32768, MaxItems: 5, Reserve: 6})
	fmt.Println(err)
	// Output:
	// handlemap: TypeID 32768 is outside 0..32767
	// handlemap: Reserve 6 exceeds MaxItems 5
}

func ExampleMap_Insert() {
	m, _ := handlemap.New[ship](handle.Options{MaxItems: 1})
	m.Insert(ship{Name: "Argo"})
	_, err := m.Insert(ship{Name: "Beagle"})
	fmt.Println(errors.Is(err, handle.ErrFull), m.Len())
	fmt.Println(err)
	// Output:
	// true 1
	// container is full: 1 items and 1 more exceed MaxItems 1
}

func ExampleMap_At() {
	var m handlemap.Map[string]
	a, _ := m.Insert("a")
	m.Erase(a)
	defer func() { fmt.Println(recover()) }()
	m.At(a)
	// Output: handle 0:0.1 names no item: the slot is vacant, its next handle is 0:0.2; use Get where a handle may be stale
}

func ExampleMap_EmplaceItems() {
	type node struct {
		Self handle.ID
		Next handle.ID
	}
	var m handlemap.Map[node]
	var before handle.ID
	hs, err := m.EmplaceItems(3, func(i int, h handle.Of[node], v *node) {
		*v = node{Self: h.ID, Next: before}
		before = h.ID
	}, nil)
	fmt.Println(hs, err, m.At(hs[2]).Next == hs[1].ID)
	// Output: [0:0.1 0:1.1 0:2.1] <nil> true
}

func ExampleMap_EraseItems() {
	var m handlemap.Map[string]
	hs, _ := m.InsertItems([]string{"a", "b", "c", "d", "e"}, nil)
	erased := m.EraseItems([]handle.Of[string]{hs[3], hs[0], hs[3]}) // in any order, twice or not
	fmt.Println(erased, m.Items())
	// Output: 2 [e b c]
}

func ExampleMap_EraseFunc() {
	var m handlemap.Map[int]
	m.InsertItems([]int{1, 2, 3, 4, 5, 6}, nil)
	erased := m.EraseFunc(func(_ handle.Of[int], v *int) bool { return *v%2 == 0 })
	fmt.Println(erased, m.Items())
	// Output: 3 [1 5 3]
}

func ExampleMap_Backward() {
	var m handlemap.Map[int]
	m.InsertItems([]int{1, 2, 3, 4, 5}, nil)
	for h, v := range m.Backward() {
		if *v%2 == 1 {
			m.Erase(h)
		}
	}
	fmt.Println(m.Items())
	// Output: [4 2]
}
