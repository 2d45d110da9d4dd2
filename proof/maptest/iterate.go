package maptest

import (
	"slices"
	"testing"
)

func (s suite) EveryIterationVisitsTheItemsInOneOrder(t *testing.T) {
	EachWidth(t, func(t *testing.T) {
		m := newMap(t, s.Numbers, Options{})
		hs := InsertN(t, m, 8)
		m.Erase(hs[1])
		m.Erase(hs[3])
		left := choose(s, []int{0, 7, 2, 6, 4, 5}, []int{0, 2, 4, 5, 6, 7})
		var want, all, backward []number
		for _, i := range left {
			want = append(want, hs[i])
		}
		for h, v := range m.All() {
			all = append(all, h)
			if v != m.At(h) {
				t.Errorf("All: %v comes with another item", h)
			}
		}
		for h, v := range m.Backward() {
			backward = append(backward, h)
			if v != m.At(h) {
				t.Errorf("Backward: %v comes with another item", h)
			}
		}
		slices.Reverse(backward)
		if !slices.Equal(all, want) || !slices.Equal(backward, want) || !slices.Equal(slices.Collect(m.Handles()), want) {
			t.Errorf("All %v, Backward %v, Handles %v, want %v", all, backward, slices.Collect(m.Handles()), want)
		}
	})
}

func (s suite) IterationCanStop(t *testing.T) {
	m := newMap(t, s.Numbers, Options{})
	InsertN(t, m, 5)
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

func (s suite) IterationOfAnEmptyMap(t *testing.T) {
	m := s.Numbers.Zero()
	for range m.All() {
		t.Error("All visits an item")
	}
	for range m.Backward() {
		t.Error("Backward visits an item")
	}
	for range m.Handles() {
		t.Error("Handles visits an item")
	}
	if m, ok := m.(Packed[uint64]); ok && len(m.Items()) != 0 {
		t.Error("Items is not empty")
	}
}
