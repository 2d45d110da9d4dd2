package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// blow is an event: ten of them may hit one ship.
type blow struct {
	Target, From store.Handle[Ship]
	Damage       int
}

// kill is an event for the ship that sank another.
type kill struct{ By store.Handle[Ship] }

// GroupBy gives events to the tasks that own their targets.
func ExampleGroupBy() {
	ctx := context.Background()
	s := store.New(store.Options{})
	ships := store.Register(s, store.TableOptions[Ship]{})
	blows := store.Register(s, store.TableOptions[blow]{})
	kills := store.Register(s, store.TableOptions[kill]{})

	qs, _ := s.Queues(1)
	argo := ships.Emplace(qs[0], Ship{Name: "Argo", Hull: 100})
	for i, name := range []string{"Bounty", "Calypso"} {
		ship := ships.Emplace(qs[0], Ship{Name: name, Hull: 100})
		for range 3 + 3*i {
			blows.Emplace(qs[0], blow{ship, argo, 10 + 10*i}) // the flush makes the handles real
		}
	}
	blows.Emplace(qs[0], blow{Damage: 1000}) // hits no ship
	fmt.Println(s.Flush(ctx))

	// region groupby
	var hits store.Groups[blow, Ship] // reused by each tick
	err := store.GroupBy(ctx, &hits, blows, ships, func(b *blow) store.Handle[Ship] { return b.Target })
	fmt.Println(hits.Len(), "hits and", hits.Stale(), "miss,", err)

	err = hits.ForEach(ctx, func(c store.GroupChunk[blow, Ship]) {
		for i := range c.Owners.Items {
			ship, hits := &c.Owners.Items[i], c.Members(i)
			for k := range hits.Len() {
				hit := hits.At(k)
				if ship.Hull > 0 && ship.Hull <= hit.Damage {
					kills.Emplace(c.Owners.Queue, kill{hit.From})
					c.Owners.Erase(i)
				}
				ship.Hull -= hit.Damage
			}
		}
	})
	// endregion
	for h, ship := range ships.All() {
		fmt.Println(h, ship.Name, ship.Hull)
	}
	fmt.Println(err)
	fmt.Println(s.Flush(ctx))
	// Output:
	// epoch 1: 13 created <nil>
	// 9 hits and 1 miss, <nil>
	// 1:0.1 Argo 100
	// 1:1.1 Bounty 70
	// 1:2.1 Calypso -20
	// <nil>
	// epoch 2: 1 created 1 erased <nil>
}

// A child names its parent. Grouped by parent, the children of a node are found.
func ExampleGroups_Of() {
	// region node
	type node struct {
		Name   string
		Parent store.Handle[node]
	}
	// endregion
	ctx := context.Background()
	s := store.New(store.Options{})
	nodes := store.Register(s, store.TableOptions[node]{Name: "node"})
	qs, _ := s.Queues(1)
	// region tree
	tree := nodes.Emplace(qs[0], node{Name: "tree"})
	branch := nodes.Emplace(qs[0], node{"branch", tree})
	for _, name := range []string{"leaf", "flower", "fruit"} {
		nodes.Emplace(qs[0], node{name, branch})
	}
	nodes.Emplace(qs[0], node{"nest", tree})
	// endregion
	_, _ = s.Flush(ctx)

	// region children
	var children store.Groups[node, node]
	err := store.GroupBy(ctx, &children, nodes, nodes, func(n *node) store.Handle[node] { return n.Parent })
	fmt.Println(children.Stale(), "root,", err)
	for h, n := range nodes.All() {
		for h, child := range children.Of(h).All() {
			fmt.Println(n.Name, "has", child.Name, h)
		}
	}
	// endregion

	// Output:
	// 1 root, <nil>
	// tree has branch 1:1.1
	// tree has nest 1:5.1
	// branch has leaf 1:2.1
	// branch has flower 1:3.1
	// branch has fruit 1:4.1
}
