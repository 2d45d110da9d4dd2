package slotmap_test

import (
	"fmt"

	"handloom/handle"
	"handloom/shard/slotmap"
)

type ship struct {
	Name string
	Hull int
}

func Example() {
	m, err := slotmap.New[ship](handle.Options{TypeID: 7, Reserve: 100})
	if err != nil {
		panic(err)
	}
	argo, _ := m.Insert(ship{"Argo", 40})
	beagle, _ := m.Insert(ship{"Beagle", 30})
	where := m.At(beagle)
	m.Erase(argo)
	endeavour, _ := m.Insert(ship{"Endeavour", 50})
	where.Hull = 25 // still the Beagle's address

	_, ok := m.Get(argo)
	fmt.Println("argo is there:", ok)
	fmt.Println("same slot, next generation:", argo, endeavour)
	for h, s := range m.All() { // a row is a slot
		fmt.Println(h, s.Name, s.Hull)
	}
	// Output:
	// argo is there: false
	// same slot, next generation: 7:0.1 7:0.2
	// 7:0.2 Endeavour 50
	// 7:1.1 Beagle 25
}

func ExampleMap_InsertFunc() {
	type node struct{ parent *node }
	var m slotmap.Map[node]
	root, _ := m.Insert(node{})
	child, _ := m.InsertFunc(func(_ handle.Of[node], v *node) { v.parent = m.At(root) })
	m.InsertItems(make([]node, 100_000), nil) // growth moves nothing
	fmt.Println(m.At(child).parent == m.At(root))
	// Output: true
}

func ExampleMap_Range() {
	var m slotmap.Map[int]
	hs, _ := m.InsertItems([]int{1, 2, 3, 4, 5, 6}, nil)
	m.Erase(hs[1])
	const rows = 2 // per chunk
	for lo := 0; lo < m.Rows(); lo += rows {
		sum := 0
		for _, v := range m.Range(lo, min(lo+rows, m.Rows())) {
			sum += *v
		}
		fmt.Println(lo, sum)
	}
	// Output:
	// 0 1
	// 2 7
	// 4 11
}
