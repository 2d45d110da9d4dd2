package store_test

import (
	"fmt"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// node has handles in a field and in references of every form.
type node struct {
	Value  uint64
	Parent store.Handle[node]
	Kids   []store.Handle[node]
	Named  map[string]*store.ID
	Deep   *branch
}

type branch struct {
	To   [2]store.ID
	Next []*branch
}

func visitNode(v *node, visit func(*store.ID)) {
	for i := range v.Kids {
		visit(&v.Kids[i].ID)
	}
	for _, id := range v.Named {
		visit(id)
	}
	if v.Deep != nil {
		v.Deep.visit(visit)
	}
}

func (b *branch) visit(visit func(*store.ID)) {
	visit(&b.To[0])
	visit(&b.To[1])
	for _, next := range b.Next {
		next.visit(visit)
	}
}

type nodes = anyTable[node]

func kids(value uint64, hs ...store.Handle[node]) node { return node{Value: value, Kids: hs} }

func registerNodes(t tb, s *store.Store, o store.TableOptions[node], stable bool) nodes {
	t.Helper()
	if o.Links == nil {
		o.Links = visitNode
	}
	return registerKind(t, s, o, stable)
}

// Values below 100 stay in the table.
func staying(t *testing.T, s *store.Store, table nodes) (target store.Handle[node], left [][]store.Handle[node]) {
	t.Helper()
	live := table.EmplaceItems(queues(t, s, 1)[0], make([]node, 2), nil)
	flush(t, s)
	resolveAll(t, table, live)
	qs := queues(t, s, 2)
	target = table.Emplace(qs[0], kids(1))
	gone := func(value uint64) node {
		v := kids(value, target)
		left = append(left, v.Kids)
		return v
	}
	table.Emplace(qs[0], kids(2, target))
	once, twice, cancelled := table.Emplace(qs[0], gone(103)), table.Emplace(qs[1], gone(104)), table.Emplace(qs[1], gone(106))
	table.Put(qs[1], once, kids(3, target))
	table.Put(qs[0], twice, gone(105))
	table.Put(qs[1], twice, kids(4, target))
	table.Put(qs[0], cancelled, gone(107))
	table.Erase(qs[0], cancelled)
	table.Put(qs[1], live[0], kids(5, target)) // the last by key, recorded first
	table.Put(qs[0], live[0], gone(108))
	table.Put(qs[0], live[1], gone(110))
	table.Erase(qs[1], live[1])
	table.Put(qs[1], store.Handle[node]{ID: live[0].ID + 1<<32}, gone(111))
	return target, left
}

func TestLinks_CalledOncePerKeptValue(t *testing.T) {
	if check.Full {
		t.Skip("a checked build calls it for live items too")
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, shards := range []int{1, 3} {
			var calls calls
			s := newStore(t, store.Options{Workers: 3})
			table := registerNodes(t, s, store.TableOptions[node]{Shards: shards, Links: calls.visit}, stable)
			target, left := staying(t, s, table)
			calls.take() // clears the calls for existing items
			flush(t, s)
			equalLists(t, "values that Links was called for", calls.take(), 1, 2, 3, 4, 5)
			for i, hs := range left {
				equal(t, fmt.Sprintf("handle in the slice of value %d, which stays nowhere", i), hs[0], target)
			}
			table.Erase(queues(t, s, 1)[0], resolve(t, table, target))
			if flush(t, s); len(calls.take()) > 0 {
				t.Error("Links was called by a flush of an erase")
			}
		}
	})
}

// A handle at either end of a value is inside; its neighbours are in other values.
func TestLinks_MayVisitFields(t *testing.T) {
	type edges struct {
		First store.ID
		_     [3]uint64
		Last  [2]store.ID
	}
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{})
	whole := register(t, s, store.TableOptions[store.ID]{Name: "whole", Shards: 2, Links: func(v *store.ID, visit func(*store.ID)) { visit(v) }})
	ends := register(t, s, store.TableOptions[edges]{Name: "ends", Shards: 2, Links: func(v *edges, visit func(*store.ID)) {
		visit(&v.Last[1])
		visit(&v.First)
	}})
	q := queues(t, s, 1)[0]
	target, gone := table.Emplace(q, item{}), table.Emplace(q, item{})
	table.Erase(q, gone)
	for range 100 {
		whole.Emplace(q, target.ID)
		whole.Emplace(q, gone.ID)
		ends.Emplace(q, edges{First: target.ID, Last: [2]store.ID{gone.ID, target.ID}})
		ends.Emplace(q, edges{First: gone.ID, Last: [2]store.ID{target.ID, gone.ID}})
	}
	wantFlush(t, s, batch.Counts{Created: 401, CancelledOut: 2, Dangling: 100 + 300})
	real := resolve(t, table, target).ID
	for h, v := range whole.All() {
		if *v != real && *v != 0 {
			t.Errorf("%v is %v", h, *v)
		}
	}
	for h, v := range ends.All() {
		if *v != (edges{First: real, Last: [2]store.ID{0, real}}) && *v != (edges{Last: [2]store.ID{real, 0}}) {
			t.Errorf("%v is %v", h, *v)
		}
	}
}
