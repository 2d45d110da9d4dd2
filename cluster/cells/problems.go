package cells

import (
	"cmp"
	"maps"
	"slices"
	"sync"
)

// problems are the last errors for each cell and direction.
type problems struct {
	mutex sync.Mutex
	last  map[place]error
}

type place struct {
	cell      ID
	direction direction
}

type direction uint8

const (
	sends direction = iota
	receives
)

// set replaces an error. nil removes it.
func (p *problems) set(cell ID, d direction, err error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	at := place{cell, d}
	if err == nil {
		delete(p.last, at)
		return
	}
	if p.last == nil {
		p.last = make(map[place]error)
	}
	p.last[at] = err
}

func (p *problems) list() (all []error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, at := range slices.SortedFunc(maps.Keys(p.last), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.direction, b.direction))
	}) {
		all = append(all, p.last[at])
	}
	return all
}
