package store_test

import (
	"context"
	"fmt"
	"testing"

	"handloom/store"
)

// frames is a small simulation: items that live for a while, name each other
// across two tables, and are recorded from passes of every kind. One table is
// stable and one packed, or the other way round.
func frames(n int, stable bool) func(r *trial) {
	return func(r *trial) {
		ships := registerKind(r, r.Store, store.TableOptions[item]{Name: "ships", Shards: 5, ChunkItems: 16, MinFree: 3}, stable)
		shots := registerKind(r, r.Store, store.TableOptions[item]{Name: "shots", Shards: 2, ChunkItems: 1}, !stable)
		for range n {
			launch(r, ships, shots)
			age(r, ships, shots)
			names := recordFromOutside(r, ships)
			r.flush(names...)
		}
	}
}

func launch(r *trial, ships, shots itemTable) {
	err := r.Each(r.ctx, 9, func(_ context.Context, task int, q store.Queue) error {
		var last store.Handle[item]
		for i := range 5 * task {
			last = ships.Emplace(q, item{Value: uint64(i), Parent: last})
			if i%4 == 0 {
				store.EmplaceFunc(shots, q, func(h store.Handle[item], v *item) {
					*v = item{Value: r.Epoch(), Parent: h, Links: [2]store.ID{last.ID}}
				})
			}
			if i%7 == 0 {
				ships.Erase(q, last)
			}
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}

// age has every task erase items of its chunk and of another table, so that
// several tasks erase and put the same ones.
func age(r *trial, ships, shots itemTable) {
	err := ships.visit(r.ctx, func(chunk int, q store.Queue, items itemSeq) error {
		var own store.Handle[item]
		for h, v := range items {
			own = h
			v.Value += 3
			switch {
			case v.Value%5 == 0:
				ships.Erase(q, h)
			case v.Value%6 == 0:
				ships.Put(q, h, item{Value: v.Value + uint64(chunk), Links: v.Links})
			case shots.Has(handleOf(v.Links[0])):
				q.Erase(v.Links[0])
			}
		}
		for h, v := range shots.All() {
			if v.Value+3 < r.Epoch() {
				shots.Erase(q, h)
			} else if v.Value%3 == uint64(chunk)%3 {
				shots.Put(q, h, item{Value: v.Value, Parent: h, Links: [2]store.ID{own.ID}})
			}
		}
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
}

func recordFromOutside(r *trial, ships itemTable) []store.ID {
	var names []store.ID
	for _, q := range queues(r, r.Store, 3) {
		for _, h := range ships.EmplaceItems(q, make([]item, 11), nil) {
			names = append(names, h.ID)
		}
	}
	return names
}

func TestEveryFlushIsTheSameForAnyWorkersProcessorsAndOrderOfTasks(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) { sameEverywhere(t, store.Options{}, frames(12, stable)) })
}

func TestWithNarrowFieldsEveryFlushIsTheSameToo(t *testing.T) {
	setWidths(t, 7, 400)
	bothKinds(t, func(t *testing.T, stable bool) { sameEverywhere(t, store.Options{}, frames(16, stable)) })
}

// boundaries records from every row of a table that has a number of rows per
// shard next to a boundary between chunks.
func boundaries(rows, shards int) func(r *trial) {
	const chunk = 8
	return func(r *trial) {
		table := register(r, r.Store, store.TableOptions[item]{Shards: shards, ChunkItems: chunk})
		table.EmplaceItems(queues(r, r.Store, 1)[0], make([]item, rows*shards), nil)
		r.flush()
		for range 3 {
			names := make([]store.ID, rows*shards)
			visited := make([]int, (rows+chunk-1)/chunk*shards)
			err := table.ForEach(r.ctx, func(_ context.Context, c store.Chunk[item]) error {
				visited[c.Index] = len(c.Items)
				for i := range c.Items {
					c.Items[i].Value++
					if i%3 == 0 {
						c.Erase(i)
						at := c.Index/max(1, len(visited)/shards)*rows + c.Index%max(1, len(visited)/shards)*chunk + i
						names[at] = table.Emplace(c.Queue, item{Value: uint64(at), Parent: c.Handle(i)}).ID
					}
				}
				return nil
			})
			if err != nil {
				r.Fatal(err)
			}
			sum := 0
			for _, n := range visited {
				sum += n
			}
			if sum != rows*shards || table.Len() != sum {
				r.Fatalf("%d of %d rows were visited", sum, table.Len())
			}
			r.flush(names...)
		}
	}
}

func TestPassesOverTablesOfAnySizeRecordTheSame(t *testing.T) {
	for _, rows := range []int{0, 1, 7, 8, 9, 100} {
		for _, shards := range []int{1, 3} {
			t.Run(fmt.Sprintf("rows=%d/shards=%d", rows, shards), func(t *testing.T) {
				want := alone.run(t, store.Options{}, boundaries(rows, shards))
				for i, c := range configs() {
					if i%5 != rows%5 {
						continue // a fifth of them for each size
					}
					if difference := want.differs(c.run(t, store.Options{}, boundaries(rows, shards))); difference != "" {
						t.Errorf("%v: %s", c, difference)
					}
				}
			})
		}
	}
}
