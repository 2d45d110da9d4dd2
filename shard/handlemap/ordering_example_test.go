package handlemap_test

import (
	"cmp"
	"fmt"

	"handloom/handle"
	"handloom/shard/handlemap"
)

// Sprites are drawn by depth, but no frame has time for a sort. Each frame spends a little;
// a moved sprite reaches its place within some frames.
func ExampleMap_Defragment() {
	type sprite struct {
		Name  string
		Depth int
	}
	byDepth := func(a, b *sprite) int { return cmp.Compare(a.Depth, b.Depth) }

	var m handlemap.Map[sprite]
	hs, _ := m.InsertItems([]sprite{{"sky", 9}, {"hero", 1}, {"tree", 4}, {"hill", 7}, {"cat", 2}}, nil)

	for frame := range 6 {
		if frame == 3 {
			m.At(hs[4]).Depth = 8 // the cat walks to the horizon
			m.Touch(hs[4])
		}
		moves, done := m.Defragment(byDepth, 4) // comparisons and moves per frame
		fmt.Print(moves, " moves, done: ", done, ",")
		for _, s := range m.Items() {
			fmt.Print(" ", s.Name)
		}
		fmt.Println()
	}
	fmt.Println("still the hero:", m.At(hs[1]).Name)
	// Output:
	// 0 moves, done: false, sky hero tree hill cat
	// 0 moves, done: false, sky hero tree hill cat
	// 2 moves, done: true, hero cat tree hill sky
	// 1 moves, done: false, hero tree cat hill sky
	// 1 moves, done: true, hero tree hill cat sky
	// 0 moves, done: true, hero tree hill cat sky
	// still the hero: hero
}

func ExampleMap_SortByKey() {
	var m handlemap.Map[ship]
	m.InsertItems([]ship{{"Endeavour", 50}, {"Argo", 40}, {"Beagle", 30}}, nil)
	m.SortByKey(func(s *ship) uint64 { return uint64(s.Hull) })
	fmt.Println(m.Items())
	// Output: [{Beagle 30} {Argo 40} {Endeavour 50}]
}

func ExampleMap_SortAs() {
	var m handlemap.Map[string]
	hs, _ := m.InsertItems([]string{"a", "b", "c", "d"}, nil)
	m.SortAs([]handle.Of[string]{hs[3], hs[1]})
	fmt.Println(m.Items())
	// Output: [d b a c]
}

func ExampleMap_Partition() {
	var m handlemap.Map[int]
	m.InsertItems([]int{1, 2, 3, 4, 5, 6}, nil)
	even := m.Partition(func(v *int) bool { return *v%2 == 0 })
	fmt.Println(m.Items()[:even], m.Items()[even:])
	// Output: [2 4 6] [1 3 5]
}
