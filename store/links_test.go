package store_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/store"
)

// node is an item that keeps handles in a field and behind references of every
// form.
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

// visitNode is the Links function of a table of nodes.
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

// kids is a node that names others behind its slice.
func kids(value uint64, hs ...store.Handle[node]) node { return node{Value: value, Kids: hs} }

func registerNodes(t tb, s *store.Store, o store.TableOptions[node], stable bool) nodes {
	t.Helper()
	if o.Links == nil {
		o.Links = visitNode
	}
	return registerKind(t, s, o, stable)
}

func TestNamesBehindReferencesBecomeReal(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, shards := range []int{1, 4} {
			s := newStore(t, store.Options{Workers: 3})
			table := registerNodes(t, s, store.TableOptions[node]{Shards: shards}, stable)
			other := registerKind(t, s, store.TableOptions[item]{Shards: shards}, !stable)
			live := table.Emplace(queues(t, s, 1)[0], node{})
			flush(t, s)
			live = resolve(t, table, live)

			// What names it is recorded before, behind and in the same queue.
			qs := queues(t, s, 3)
			target, far := table.Emplace(qs[1], node{}), other.Emplace(qs[1], item{})
			at := func() node {
				named, unnamed := target.ID, live.ID
				return node{
					Parent: target,
					Kids:   []store.Handle[node]{target, {}, live},
					Named:  map[string]*store.ID{"target": &named, "live": &unnamed},
					Deep:   &branch{To: [2]store.ID{far.ID, 0}, Next: []*branch{{To: [2]store.ID{target.ID, live.ID}}, {}}},
				}
			}
			var made []store.Handle[node]
			for _, q := range qs {
				made = append(made, table.Emplace(q, at()))
			}
			table.Put(qs[2], live, at())
			if report := flush(t, s); report.Total != (batch.Counts{Created: 5, Put: 1}) {
				t.Errorf("%v", report)
			}

			target, far = resolve(t, table, target), resolve(t, other, far)
			for _, p := range made {
				checkNode(t, table.At(resolve(t, table, p)), target, live, far)
			}
			checkNode(t, table.At(live), target, live, far)
		}
	})
}

func checkNode(t *testing.T, v *node, target, live store.Handle[node], far store.Handle[item]) {
	t.Helper()
	if v.Parent != target || !slices.Equal(v.Kids, []store.Handle[node]{target, {}, live}) ||
		*v.Named["target"] != target.ID || *v.Named["live"] != live.ID ||
		v.Deep.To != [2]store.ID{far.ID} || v.Deep.Next[0].To != [2]store.ID{target.ID, live.ID} || v.Deep.Next[1].To != [2]store.ID{} {
		t.Errorf("%+v, %v, %v does not name %v, %v and %v", *v, *v.Named["target"], *v.Deep.Next[0], target, live, far)
	}
}

func TestAChainOfAThousandNamesBehindSlicesBecomesReal(t *testing.T) {
	sameEverywhere(t, store.Options{}, func(r *trial) {
		table := registerNodes(r, r.Store, store.TableOptions[node]{Shards: 3}, false)
		var names []store.ID
		var last store.Handle[node]
		for _, q := range queues(r, r.Store, 10) {
			for range 100 {
				last = table.Emplace(q, kids(uint64(len(names)), last))
				names = append(names, last.ID)
			}
		}
		r.flush(names...)
		at, _ := table.Resolve(last)
		for i := 999; i >= 0; i-- {
			v, ok := table.Get(at)
			if !ok || v.Value != uint64(i) {
				r.Fatalf("link %d leads to %+v", i, v)
			}
			at = v.Kids[0]
		}
		if !at.ID.IsZero() {
			r.Errorf("the chain begins at %v", at)
		}
	})
}

// A ring goes through two tables and three queues, and each of its items names
// itself as well. The names are completed by Staged once all are known.
func TestCyclesAndSelfReferencesBecomeReal(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 2})
		tables := []nodes{
			registerNodes(t, s, store.TableOptions[node]{Name: "a", Shards: 2}, stable),
			registerNodes(t, s, store.TableOptions[node]{Name: "b"}, !stable),
		}
		qs := queues(t, s, 3)
		ring := make([]store.Handle[node], 6)
		for i := range ring {
			ring[i] = store.EmplaceFunc(tables[i%2], qs[i%3], func(h store.Handle[node], v *node) { *v = kids(uint64(i), h) })
		}
		for i, h := range ring {
			v, ok := tables[i%2].Staged(qs[i%3], h)
			if !ok {
				t.Fatalf("%v is not staged", h)
			}
			v.Kids = append(v.Kids, ring[(i+1)%len(ring)])
		}
		flush(t, s)
		for i, p := range ring {
			ring[i] = resolve(t, tables[i%2], p)
		}
		for i, h := range ring {
			if v := tables[i%2].At(h); v.Value != uint64(i) || !slices.Equal(v.Kids, []store.Handle[node]{h, ring[(i+1)%6]}) {
				t.Errorf("%d: %+v, want %v and %v", i, *v, h, ring[(i+1)%6])
			}
		}
	})
}

// staying records commands of which some leave a value in the table; these have
// values below 100.
func staying(t *testing.T, s *store.Store, table nodes) (target store.Handle[node], left [][]store.Handle[node]) {
	t.Helper()
	live := table.EmplaceItems(queues(t, s, 1)[0], make([]node, 2), nil)
	flush(t, s)
	for i, p := range live {
		live[i] = resolve(t, table, p)
	}
	err := s.Each(t.Context(), 1, func(_ context.Context, _ int, q store.Queue) error {
		table.Emplace(q, kids(100, table.Emplace(q, kids(101))))
		return errTask
	})
	if err == nil {
		t.Fatal("the pass did not fail")
	}
	qs := queues(t, s, 2)
	target = table.Emplace(qs[0], kids(1))
	gone := func(value uint64) node {
		v := kids(value, target)
		left = append(left, v.Kids)
		return v
	}
	table.Emplace(qs[0], kids(2, target))
	table.Erase(qs[1], table.Emplace(qs[0], gone(102)))
	once := table.Emplace(qs[0], gone(103))
	table.Put(qs[1], once, kids(3, target))
	twice := table.Emplace(qs[1], gone(104))
	table.Put(qs[0], twice, gone(105))
	table.Put(qs[1], twice, kids(4, target))
	cancelled := table.Emplace(qs[1], gone(106))
	table.Put(qs[0], cancelled, gone(107))
	table.Erase(qs[0], cancelled)
	table.Put(qs[1], live[0], kids(5, target)) // the last by key, though recorded first
	table.Put(qs[0], live[0], gone(108))
	table.Put(qs[0], live[0], gone(109))
	table.Put(qs[0], live[1], gone(110))
	table.Erase(qs[1], live[1])
	table.Put(qs[1], store.Handle[node]{ID: live[0].ID + 1<<32}, gone(111))
	table.Put(qs[1], store.Handle[node]{}, gone(112))
	return target, left
}

func TestLinksIsCalledOnceForEachValueThatStaysAndForNoOther(t *testing.T) {
	if check.Full {
		t.Skip("a checked build calls it for live items too")
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		for _, shards := range []int{1, 3} {
			var calls calls
			s := newStore(t, store.Options{Workers: 3})
			table := registerNodes(t, s, store.TableOptions[node]{Shards: shards, Links: calls.visit}, stable)
			target, left := staying(t, s, table)
			calls.take() // of the items that were there before
			report := flush(t, s)
			if got := calls.take(); !slices.Equal(got, []uint64{1, 2, 3, 4, 5}) {
				t.Errorf("Links was called for the values %v", got)
			}
			if report.Total != (batch.Counts{Created: 4, Put: 3, Superseded: 3, Erased: 1, Dropped: 2, Stale: 2, CancelledOut: 4}) {
				t.Errorf("%v", report)
			}
			for i, hs := range left {
				if hs[0] != target {
					t.Errorf("value %d stays nowhere, and its slice was changed from %v to %v", i, target, hs[0])
				}
			}
			for h, v := range table.All() {
				if v.Value > 1 && v.Kids[0] != resolve(t, table, target) {
					t.Errorf("%v is %+v", h, v)
				}
			}
		}
	})
}

func TestLinksIsCalledForTablesWithValuesInTheBatchAlone(t *testing.T) {
	if check.Full {
		t.Skip("a checked build calls it for live items too")
	}
	var calls [3]calls
	s := newStore(t, store.Options{})
	var tables []nodes
	var hs []store.Handle[node]
	for i := range calls {
		tables = append(tables, registerNodes(t, s, store.TableOptions[node]{Name: fmt.Sprint(i), Links: calls[i].visit}, i == 1))
		hs = append(hs, tables[i].Emplace(queues(t, s, 1)[0], kids(1)))
	}
	flush(t, s)
	for i := range calls {
		if got := calls[i].take(); len(got) != 1 {
			t.Errorf("Links of table %d was called for %v", i, got)
		}
		hs[i] = resolve(t, tables[i], hs[i])
	}
	q := queues(t, s, 1)[0]
	tables[0].Emplace(q, kids(7))
	tables[1].Erase(q, hs[1])
	tables[1].Put(q, hs[1], kids(8))
	flush(t, s)
	flush(t, s)
	if got := []int{len(calls[0].take()), len(calls[1].take()), len(calls[2].take())}; !slices.Equal(got, []int{1, 0, 0}) {
		t.Errorf("Links of the three tables was called %v times", got)
	}
}

// Each handle that cannot be made real counts once, however many items refer to
// it and however often Links visits it, and wherever it lies.
func TestWhatDanglesBehindReferencesBecomesNullAndCountsOnce(t *testing.T) {
	everything := func(v *node, visit func(*store.ID)) {
		visit(&v.Parent.ID) // found without Links, too
		visitNode(v, visit)
		visitNode(v, visit)
		visit(&v.Parent.ID)
	}
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 2})
		table := registerNodes(t, s, store.TableOptions[node]{Name: "first", Shards: 3, Links: everything}, stable)
		other := registerNodes(t, s, store.TableOptions[node]{Name: "second", Links: everything}, !stable)
		old := table.Emplace(queues(t, s, 1)[0], node{})
		flush(t, s)
		live := resolve(t, table, old)

		qs := queues(t, s, 2)
		gone := table.Emplace(qs[1], kids(0))
		kept := table.Emplace(qs[1], kids(1))
		shared := []store.Handle[node]{gone, kept, old, {ID: 1<<63 | 9000<<48 | 1}} // three dangle
		id := gone.ID
		pointer := &id
		made := []store.Handle[node]{
			table.Emplace(qs[0], node{Parent: gone, Kids: shared}),
			table.Emplace(qs[0], node{Parent: kept, Kids: shared, Named: map[string]*store.ID{"a": pointer, "b": pointer}}),
		}
		far := other.Emplace(qs[0], node{Kids: shared, Named: map[string]*store.ID{"c": pointer}, Deep: &branch{To: [2]store.ID{gone.ID, kept.ID}}})
		table.Put(qs[1], live, node{Parent: old, Kids: shared[:2]})
		table.Erase(qs[0], gone)
		report := flush(t, s)
		want := []store.TableReport{
			{Name: "first", Counts: batch.Counts{Created: 3, Put: 1, CancelledOut: 2, Dangling: 3 + 1 + 2}},
			{Name: "second", Counts: batch.Counts{Created: 1, Dangling: 1}},
		}
		if !slices.Equal(report.Tables, want) {
			t.Errorf("%+v", report.Tables)
		}
		kept = resolve(t, table, kept)
		if !slices.Equal(shared, []store.Handle[node]{{}, kept, {}, {}}) || id != 0 {
			t.Errorf("the shared handles are %v and %v, want %v and null", shared, id, kept)
		}
		first, second := table.At(resolve(t, table, made[0])), table.At(resolve(t, table, made[1]))
		if !first.Parent.ID.IsZero() || second.Parent != kept || !table.At(live).Parent.ID.IsZero() {
			t.Errorf("the fields hold %v, %v, %v", first.Parent, second.Parent, table.At(live).Parent)
		}
		if deep := other.At(resolve(t, other, far)).Deep.To; deep != [2]store.ID{0, kept.ID} {
			t.Errorf("the structure holds %v", deep)
		}
	})
}

// A handle that is the whole value, the first or the last of its bytes is inside
// of it; its neighbours in memory are other values.
func TestLinksMayVisitFieldsThatAreFoundWithoutIt(t *testing.T) {
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
	if report := flush(t, s); report.Total != (batch.Counts{Created: 401, CancelledOut: 2, Dangling: 100 + 300}) {
		t.Errorf("%v", report)
	}
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

func TestATypeWithHandlesBehindReferencesNeedsLinks(t *testing.T) {
	s := newStore(t, store.Options{})
	for _, stable := range []bool{false, true} {
		try := func(o store.TableOptions[node]) error {
			if stable {
				_, err := store.RegisterStable(s, o)
				return err
			}
			_, err := store.Register(s, o)
			return err
		}
		err := try(store.TableOptions[node]{Name: fmt.Sprint(stable)})
		for _, part := range []string{"node.Kids", "node.Named", "node.Deep", "Links"} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("the error does not mention %q: %v", part, err)
			}
		}
		if err := try(store.TableOptions[node]{Name: fmt.Sprint(stable), Links: visitNode}); err != nil {
			t.Errorf("with Links: %v", err)
		}
	}
	if tables := s.Stats().Tables; len(tables) != 2 {
		t.Errorf("the store has %v", tables)
	}
}
