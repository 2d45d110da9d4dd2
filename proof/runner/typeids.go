package runner

import (
	"fmt"

	"handloom/proof/script"
)

// lastTypeID is the highest typeId of a handle.
const lastTypeID = 1<<15 - 1

// typeIDs returns the first typeId of each table: the one it asks for, or that of
// the first run of free ones that is long enough, as documents say.
func typeIDs(tables []script.Table) ([]int, error) {
	taken := make([]bool, lastTypeID+2)
	taken[0], taken[lastTypeID+1] = true, true
	free := func(first, n int) bool {
		for id := first; id < first+n; id++ {
			if id >= len(taken) || taken[id] {
				return false
			}
		}
		return true
	}
	all := make([]int, len(tables))
	next := 1
	for i := range tables {
		t, n := &tables[i], max(1, tables[i].Shards)
		first := t.TypeID
		if first == 0 {
			for taken[next] && next < lastTypeID { // what is taken stays so
				next++
			}
			for first = next; !free(first, n) && first <= lastTypeID; first++ {
			}
		}
		if !free(first, n) {
			return nil, fmt.Errorf("table %s has no %d typeIds from %d on: they are taken, or beyond %d", t.Name, n, first, lastTypeID)
		}
		for id := first; id < first+n; id++ {
			taken[id] = true
		}
		all[i] = first
	}
	return all, nil
}
