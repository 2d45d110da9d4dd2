package handlemap_test

import (
	"slices"
	"testing"

	"handloom/shard/handlemap"
)

func TestEveryIterationIsInDenseOrder(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handlemap.Options{})
		hs := insertN(t, m, 8)
		m.Erase(hs[1])
		m.Erase(hs[3])
		handles, items := contents(m)
		if want := []uint64{0, 7, 2, 6, 4, 5}; !slices.Equal(items, want) {
			t.Fatalf("dense order %v, want %v", items, want)
		}
		row := 0
		for h, v := range m.All() {
			if h != handles[row] || h != m.HandleAt(row) || v != &m.Items()[row] {
				t.Errorf("All: row %d is %v", row, h)
			}
			row++
		}
		for h, v := range m.Backward() {
			row--
			if h != handles[row] || v != &m.Items()[row] {
				t.Errorf("Backward: row %d is %v", row, h)
			}
		}
		if row != 0 {
			t.Errorf("Backward stops at row %d", row)
		}
	})
}

func TestIterationCanStop(t *testing.T) {
	m := newMap[uint64](t, handlemap.Options{})
	insertN(t, m, 5)
	visited := 0
	for range m.All() {
		visited++
		break
	}
	for range m.Backward() {
		visited++
		break
	}
	for range m.Handles() {
		visited++
		break
	}
	if visited != 3 {
		t.Errorf("%d visits, want 3", visited)
	}
}

func TestIterationOfAnEmptyMap(t *testing.T) {
	var m handlemap.Map[uint64]
	for range m.All() {
		t.Error("All visits an item")
	}
	for range m.Backward() {
		t.Error("Backward visits an item")
	}
	for range m.Handles() {
		t.Error("Handles visits an item")
	}
	if len(m.Items()) != 0 {
		t.Error("Items is not empty")
	}
}

func TestBackwardWithEraseVisitsEverythingOnce(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		for mask := range 1 << 6 { // every subset of six items
			m := newMap[uint64](t, handlemap.Options{})
			hs := insertN(t, m, 6)
			visited := map[uint64]int{}
			for h, v := range m.Backward() {
				visited[*v]++
				if mask>>*v&1 == 1 {
					m.Erase(h)
				}
			}
			for i, h := range hs {
				if visited[uint64(i)] != 1 || m.Has(h) == (mask>>i&1 == 1) {
					t.Errorf("subset %06b: item %d visited %d times, lives %t", mask, i, visited[uint64(i)], m.Has(h))
				}
			}
		}
	})
}

func TestBackwardDoesNotVisitWhatIsInsertedMeanwhile(t *testing.T) {
	eachWidth(t, func(t *testing.T) {
		m := newMap[uint64](t, handlemap.Options{})
		insertN(t, m, 5)
		visited := 0
		for h, v := range m.Backward() {
			if visited++; *v >= 5 {
				t.Errorf("visits %d, which was inserted meanwhile", *v)
			}
			insert(t, m, 5+*v)
			m.Erase(h)
		}
		if visited != 5 || m.Len() != 5 {
			t.Errorf("%d visits, %d items left; want 5 and 5", visited, m.Len())
		}
	})
}

func TestItemsCannotBeAppendedOverItsNeighbours(t *testing.T) {
	m := newMap[uint64](t, handlemap.Options{Reserve: 16})
	hs := insertN(t, m, 4)
	items := m.Items()
	if len(items) != 4 || cap(items) != 4 {
		t.Fatalf("length %d, capacity %d", len(items), cap(items))
	}
	_ = append(items, 99)
	verify(t, m) // the rows behind are still zero
	items[2] = 22
	if *m.At(hs[2]) != 22 {
		t.Error("Items is a copy")
	}
}
