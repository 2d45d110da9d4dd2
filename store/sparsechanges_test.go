package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

// shielded has a model of the sparse data of its table.
type shielded struct {
	*store.Store
	items  itemTable
	shield *store.Sparse[item, int]

	all           []store.Handle[item]
	has, before   map[store.Handle[item]]int // now, and at the start of the frame
	lost          map[store.Handle[item]]int // the first lost value of items that had one at the start
	written, gone map[store.Handle[item]]bool
}

func (y *shielded) begin() {
	y.before, y.lost = maps.Clone(y.has), map[store.Handle[item]]int{}
	y.written, y.gone = map[store.Handle[item]]bool{}, map[store.Handle[item]]bool{}
}

func (y *shielded) put(h store.Handle[item], v int) { y.has[h], y.written[h] = v, true }

func (y *shielded) take(h store.Handle[item]) {
	_, had := y.before[h]
	_, again := y.lost[h]
	if v, ok := y.has[h]; ok && had && !again {
		y.lost[h] = v
	}
	delete(y.has, h)
}

func (y *shielded) die(i int) store.Handle[item] {
	h := y.all[i]
	y.all, y.gone[h] = slices.Delete(y.all, i, i+1), true
	delete(y.has, h)
	return h
}

func (y *shielded) flush(t *testing.T, ctx context.Context, r *rand.Rand) {
	erased, last := map[store.Handle[item]]bool{}, map[store.Handle[item]]func(store.Handle[item]){}
	var created []store.Handle[item]
	given := map[store.Handle[item]]int{}
	noError(t, y.Do(ctx, func(q store.Queue) {
		for range r.IntN(8) {
			v := r.IntN(1000)
			i := r.IntN(len(y.all) + 1)
			switch kind := r.IntN(8); {
			case i == len(y.all):
				p := y.items.Emplace(q, item{})
				if created = append(created, p); kind < 4 {
					y.shield.Set(q, p, v)
					given[p] = v
				}
			case erased[y.all[i]]:
			case kind < 3:
				y.shield.Set(q, y.all[i], v)
				last[y.all[i]] = func(h store.Handle[item]) { y.put(h, v) }
			case kind < 6:
				y.shield.Unset(q, y.all[i])
				last[y.all[i]] = y.take
			case kind == 6 && len(y.all) > 5+len(erased):
				y.items.Erase(q, y.all[i])
				erased[y.all[i]] = true
			}
		}
	}))
	flushIn(t, y.Store, ctx)
	for h, apply := range last {
		apply(h)
	}
	for h := range erased {
		y.die(slices.Index(y.all, h))
	}
	for _, p := range created {
		h := resolve(t, y.items, p)
		if y.all = append(y.all, h); given[p] > 0 {
			y.put(h, given[p])
		}
	}
}

func (y *shielded) step(t *testing.T, ctx context.Context, w *store.Writer, r *rand.Rand) {
	i := r.IntN(5)
	h, v := y.all[i], r.IntN(1000)
	switch kind := r.IntN(9); {
	case kind < 2:
		equal(t, "Put", y.shield.Put(w, h, v), true)
		y.put(h, v)
	case kind < 4:
		_, had := y.has[h]
		equal(t, "Remove", y.shield.Remove(w, h), had)
		y.take(h)
	case kind == 4 && len(y.all) > 5:
		y.items.Remove(w, y.die(i))
		equal(t, "Put for an item that is gone", y.shield.Put(w, h, v) || y.shield.Remove(w, h), false)
	case kind == 5:
		y.all = append(y.all, y.items.Insert(w, item{}))
	case kind == 6:
		mark := r.Uint64N(4)
		noError(t, y.shield.ForEach(ctx, func(c store.SparseChunk[item, int]) {
			for i, h := range c.Owners {
				if uint64(h.ID)%4 == mark {
					c.Items[i] += 1000
					c.Wrote(i)
				}
			}
		}))
		for h := range y.has {
			if uint64(h.ID)%4 == mark {
				y.put(h, y.has[h]+1000)
			}
		}
	default:
		y.flush(t, ctx, r)
	}
}

func (y *shielded) compare(t *testing.T) string {
	t.Helper()
	created, erased, written := map[store.Handle[item]]int{}, map[store.Handle[item]]int{}, map[store.Handle[item]]int{}
	for h, v := range y.has {
		if _, had := y.before[h]; !had {
			created[h] = v
		} else if y.written[h] {
			written[h] = v
		}
	}
	for h, v := range y.lost {
		if _, ok := y.has[h]; !ok && !y.gone[h] {
			erased[h] = v
		}
	}
	var order strings.Builder
	for _, c := range []struct {
		name string
		list func(yield func(store.Handle[item], *int) bool)
		want map[store.Handle[item]]int
	}{{"All", y.shield.All(), y.has}, {"Created", y.shield.Created(), created}, {"Erased", y.shield.Erased(), erased}, {"Written", y.shield.Written(), written}} {
		got, n := map[store.Handle[item]]int{}, 0
		for h, v := range c.list {
			got[h] = *v
			n++
			if at, ok := y.shield.Get(h); c.name != "Erased" && (!ok || at != v) {
				t.Fatalf("%s yields %v, whose value is elsewhere", c.name, h)
			}
			fmt.Fprint(&order, h, *v)
		}
		if n != len(got) || !maps.Equal(got, c.want) {
			t.Fatalf("%s yields %d items, %v, want %v", c.name, n, got, c.want)
		}
	}
	equal(t, "Len", y.shield.Len(), len(y.has))
	return order.String()
}

// The lists have the net change of each frame.
func TestSparse_ListsMatchModel(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for seed := range uint64(20) {
			var first string
			for _, workers := range []int{1, 3} {
				s := newStore(t, store.Options{Workers: workers})
				y := &shielded{Store: s, items: registerKind(t, s, store.TableOptions[item]{Shards: 2, Changes: true}, stable), has: map[store.Handle[item]]int{}}
				y.shield = addSparse(t, y.items, store.ColumnOptions[int]{Name: "shield", Changes: true})
				y.begin()
				r := rand.New(rand.NewPCG(seed, 3))
				var order strings.Builder
				var c store.Checkpoint
				for frame := range 20 {
					runFrame(t, s, func(ctx context.Context, w *store.Writer) error {
						y.begin()
						flushIn(t, s, ctx)
						y.compare(t)
						if frame == 0 {
							for range 20 {
								y.all = append(y.all, y.items.Insert(w, item{}))
							}
						}
						if frame == 10 {
							noError(t, s.Checkpoint(ctx, &c))
						}
						for range r.IntN(8 << (frame % 4)) { // an item gets a slot that the frame freed
							y.step(t, ctx, w, r)
							order.WriteString(y.compare(t))
						}
						return nil
					})
					noError(t, s.Verify(t.Context()))
					if frame == 10 {
						old := y.before
						rollback(t, s, &c)
						y.has, y.all = maps.Clone(old), nil
						for h := range y.items.All() {
							y.all = append(y.all, h)
						}
						y.begin()
						y.compare(t)
					}
				}
				if first == "" {
					first = order.String()
				} else if order.String() != first {
					t.Fatalf("seed %d: lists of %d workers differ from one worker", seed, workers)
				}
			}
		}
	})
}
