package maptest

import "testing"

// An iteration may end early in both directions.
func (s suite) All_CanStop(t *testing.T) {
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
	if visited != 2 {
		t.Errorf("%d visits, want 2", visited)
	}
}
