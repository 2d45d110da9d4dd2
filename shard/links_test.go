package shard_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/internal/dense"
	"handloom/internal/items"
	"handloom/internal/sparse"
	"handloom/shard"
	"handloom/shard/handle"
)

// node names items in a field and behind a reference.
type node struct {
	Ref  handle.ID
	Deep []handle.ID
}

func visitNode(v unsafe.Pointer, visit func(*handle.ID)) {
	deep := (*node)(v).Deep
	for i := range deep {
		visit(&deep[i])
	}
}

// linkedTable is a table of nodes with a column and optional data of nodes.
type linkedTable struct {
	*shard.Shard
	batch    *batch.Batch
	recorder batch.Recorder
	column   batch.SetLog
	extras   batch.SetLog
	elements *dense.Column
	data     *sparse.Map
}

func newLinkedTable(t *testing.T) *linkedTable {
	t.Helper()
	m, err := dense.New(items.For[node](), handle.Options{TypeID: 7})
	if err != nil {
		t.Fatal(err)
	}
	tab := &linkedTable{batch: batch.New(batch.Limits{}), data: sparse.New(items.For[node]()), Shard: shard.New(m, items.For[node]())}
	tab.recorder.Init(tab.batch, 7, 1, items.For[node]())
	tab.column.Init(&tab.recorder, items.For[node](), false, nil, nil)
	tab.extras.Init(&tab.recorder, items.For[node](), true, nil, nil)
	tab.elements = m.AddColumn(&dense.Kind{Name: "element", Type: items.For[node]()})
	tab.AddColumn(tab.elements, tab.column.Index(), nil)
	tab.AddSparse(tab.data, "extra", tab.extras.Index())
	return tab
}

// flush applies the batch and makes its links real, as a store does. It returns the
// number of links that stay null.
func (tab *linkedTable) flush(t *testing.T) (dangling int) {
	t.Helper()
	tab.batch.Gather()
	c := tab.recorder.Pending
	tab.Begin(false, false)
	tab.Plan(c, 0)
	c.FixSurvivors()
	if err := tab.Deal(c, 0, c.Survivors()); err != nil {
		t.Fatal(err)
	}
	tab.MakeRoom()
	tab.FindLinks(c, 0, visitNode)
	tab.FindLinksColumn(c, 0, 0, visitNode)
	tab.FindLinksSparse(c, 0, 0, visitNode)
	tab.Apply(c, 0)
	resolve := func(id handle.ID) handle.ID {
		real, _ := c.Resolve(id)
		return real
	}
	fields := []uintptr{0}
	tab.Link(c, 0, fields, resolve)
	tab.LinkColumn(c, 0, 0, fields, resolve)
	tab.LinkSparse(c, 0, fields, resolve)
	tab.Patch(resolve)
	var counts batch.Counts
	tab.Report(&counts)
	dangling = counts.Dangling + tab.ComponentCounts(0).Dangling + tab.ComponentCounts(1).Dangling
	tab.recorder.Publish(true)
	tab.batch.Finish()
	return dangling
}

// nodes are the values of an item: its own, its element and its optional value.
type nodes [3]node

// at returns the values that an item has in the table.
func (tab *linkedTable) at(id handle.ID) (n nodes) {
	n[0] = *(*node)(tab.Map.Item(id))
	row, _ := tab.Map.RowOf(id)
	n[1] = *(*node)(tab.elements.At(row))
	if row, ok := tab.data.Row(id); ok {
		n[2] = *(*node)(tab.data.At(row))
	}
	return n
}

// A flush makes the links of the values that it leaves real, in fields and behind
// references, whichever queues name the item of a value and the item of its links.
func TestLinks_AreRealAfterAFlush(t *testing.T) {
	for seed := range uint64(200) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 8))
			tab := newLinkedTable(t)
			model := make(map[handle.ID]nodes)
			var live []handle.ID
			for range 6 {
				const tasks = 3
				p := tab.batch.Begin(tasks)
				var names []handle.ID
				for range 12 {
					names = append(names, batch.Emplace(&tab.recorder, p.Queue(len(names)%tasks), node{}).ID)
				}
				all := append(slices.Clone(live), names...)
				for _, id := range names {
					model[id] = nodes{}
				}
				draw := func() node {
					id := func() handle.ID {
						if r.IntN(8) == 0 {
							return names[0] + 1000 // names nothing
						}
						return all[r.IntN(len(all))]
					}
					return node{id(), []handle.ID{id(), id()}}
				}
				for task := range tasks { // in the order of keys
					q := p.Queue(task)
					for range r.IntN(30) {
						id, v := all[r.IntN(len(all))], draw()
						of := model[id]
						switch r.IntN(7) {
						case 0, 1:
							batch.PutItem(&tab.recorder, q, handle.Of[node]{ID: id}, v)
							of[0] = v
						case 2, 3:
							*(*node)(tab.column.Set(q, id)) = v
							of[1] = v
						case 4, 5:
							*(*node)(tab.extras.Set(q, id)) = v
							of[2] = v
						default:
							tab.extras.Unset(q, id)
							of[2] = node{}
						}
						of[0].Deep, of[1].Deep, of[2].Deep = slices.Clone(of[0].Deep), slices.Clone(of[1].Deep), slices.Clone(of[2].Deep)
						model[id] = of
					}
				}
				q := p.Queue(0)
				erased := all[:0:0]
				for _, id := range all {
					if r.IntN(6) == 0 {
						tab.recorder.Erase(q, id)
						erased = append(erased, id)
					}
				}
				if err := p.End(false); err != nil {
					t.Fatal(err)
				}
				dangling, want := tab.flush(t), 0
				live = live[:0]
				for _, id := range all {
					of := model[id]
					delete(model, id)
					if slices.Contains(erased, id) {
						continue
					}
					real := func(id handle.ID) handle.ID {
						if !id.IsProvisional() {
							return id
						}
						h, _ := tab.recorder.Resolve(id)
						if h.IsZero() {
							want++
						}
						return h
					}
					for i := range of {
						of[i].Ref = real(of[i].Ref)
						for j, id := range of[i].Deep {
							of[i].Deep[j] = real(id)
						}
					}
					id = real(id)
					model[id] = of
					live = append(live, id)
				}
				for _, id := range live {
					got := tab.at(id)
					for i, what := range []string{"item", "element", "optional value"} {
						if want := model[id][i]; got[i].Ref != want.Ref || !slices.Equal(got[i].Deep, want.Deep) {
							t.Fatalf("the %s of %v = %v, want %v", what, id, got[i], want)
						}
					}
				}
				if dangling != want {
					t.Fatalf("Dangling = %d, want %d", dangling, want)
				}
			}
		})
	}
}
