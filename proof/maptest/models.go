package maptest

import (
	"maps"

	"handloom/proof/model"
	"handloom/shard/handle"
)

// exactMap predicts every handle, the order of items and the figures of a map.
// What it knows of an item is the number that it was made from.
type exactMap struct{ *model.Map[uint64] }

func newExact(r model.Rules, stable bool) *exactMap {
	return &exactMap{model.NewMap[uint64](r, stable)}
}

func (e *exactMap) clone() *exactMap { return &exactMap{e.Clone()} }

// unused is the model of a map that was never used.
func (e *exactMap) unused() *exactMap { return newExact(e.Rules, e.Stable) }

func (e *exactMap) fits(n int) bool {
	_, full := e.Full(n, 0, 0)
	return !full
}

// ids returns the handles of all items, in the order of All.
func (e *exactMap) ids() []handle.ID {
	var ids []handle.ID
	for _, id := range e.Handles() {
		ids = append(ids, handle.ID(id))
	}
	return ids
}

func (e *exactMap) has(id handle.ID) bool     { return e.Get(uint64(id)) != nil }
func (e *exactMap) value(id handle.ID) uint64 { return *e.Get(uint64(id)) }

// row returns the row of a live item.
func (e *exactMap) row(id handle.ID) int {
	row, _ := e.RowOf(uint64(id))
	return row
}

// words are handles as the models have them.
func words(ids []handle.ID) []uint64 {
	all := make([]uint64, len(ids))
	for i, id := range ids {
		all[i] = uint64(id)
	}
	return all
}

// abstractMap is a plain Go map from handle to value: who lives, and with which
// value. It takes the handles from the map under test and knows nothing of slots,
// rows or order.
type abstractMap struct {
	live   map[handle.ID]uint64
	issued map[handle.ID]bool
}

func newAbstract() *abstractMap {
	return &abstractMap{live: map[handle.ID]uint64{}, issued: map[handle.ID]bool{}}
}

func (a *abstractMap) clone() *abstractMap {
	return &abstractMap{live: maps.Clone(a.live), issued: maps.Clone(a.issued)}
}

// insert reports whether id may be issued: it is not null, not provisional and
// was not issued before (G3).
func (a *abstractMap) insert(id handle.ID, value uint64) bool {
	fresh := id != 0 && id < 1<<63 && !a.issued[id]
	a.issued[id] = true
	a.live[id] = value
	return fresh
}

func (a *abstractMap) erase(id handle.ID) { delete(a.live, id) }
