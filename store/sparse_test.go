package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

func addSparse[C, T any](t tb, table store.TableOf[T], o store.ColumnOptions[C]) *store.Sparse[T, C] {
	t.Helper()
	return store.AddSparse(table, o)
}

type pal struct {
	N    uint64
	Mate store.Handle[item]
}

func TestSet_QueueOfTheCreateWins(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "ship"})
	speed := addColumn(t, table, store.ColumnOptions[int]{Name: "speed"})
	shield := addSparse(t, table, store.ColumnOptions[int]{Name: "shield"})
	q := queues(t, s, 2)
	set, unset := table.Emplace(q[1], item{}), table.Emplace(q[1], item{})
	speed.Set(q[0], set, 1)
	speed.Set(q[1], set, 2)
	shield.Set(q[0], set, 1)
	shield.Set(q[0], unset, 1)
	shield.Set(q[1], set, 2)
	shield.Unset(q[1], unset)
	report := flush(t, s)
	equal(t, "columns", fmt.Sprint(report.Columns), "[ship.speed: 1 put 1 superseded ship.shield: 1 put 2 superseded 1 redundant]")
	set, unset = resolve(t, table, set), resolve(t, table, unset)
	if v, ok := shield.Get(set); !ok || *v != 2 || *speed.At(set) != 2 || shield.Has(unset) {
		t.Errorf("speed is %d, shield %v; the other has a shield: %t", *speed.At(set), v, shield.Has(unset))
	}
}

func TestSet_AllocatesNothing(t *testing.T) {
	plainBuild(t)
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{Workers: 1})
		table := registerKind(t, s, store.TableOptions[item]{Shards: 2, ChunkItems: chunkItems}, stable)
		shield := addSparse(t, table, store.ColumnOptions[pal]{Name: "shield"})
		tag := addSparse(t, table, store.ColumnOptions[struct{}]{Name: "tag"})
		name := func(store.Queue, store.Handle[item], string) {}
		if p, ok := table.(packed[item]); ok {
			name = addColumn(t, p.Table, store.ColumnOptions[string]{Name: "name"}).Set
		}
		kept := fill(t, s, table, 500)
		recordAll := func(_ int, q store.Queue) {
			for i, h := range kept {
				switch i % 4 {
				case 0:
					shield.Set(q, h, pal{N: 1})
					tag.Unset(q, h)
				case 1:
					shield.Unset(q, h)
					tag.Set(q, h, struct{}{})
				default:
					name(q, h, "a")
				}
			}
			for range 200 {
				h := table.Emplace(q, item{})
				shield.Set(q, h, pal{Mate: h})
				tag.Unset(q, h)
				name(q, h, "b")
			}
		}
		wear := func(c store.SparseChunk[item, pal]) {
			for i := range c.Items {
				c.Items[i].N++
				if c.Items[i].Mate == c.Owners[i] {
					table.Erase(c.Queue, c.Owners[i])
				}
			}
		}
		ctx := t.Context()
		frame := func() {
			noError(t, errors.Join(s.Each(ctx, 1, recordAll), onlyError(s.Flush(ctx)), shield.ForEach(ctx, wear), onlyError(s.Flush(ctx))))
		}
		for range 200 {
			frame()
		}
		const phases = 4
		atMost(t, "allocations in a frame", testing.AllocsPerRun(50, frame), 2*phases+3)
		equal(t, "shield.Len", shield.Len(), 125)
		equal(t, "tag.Len", tag.Len(), 125)
	})
}

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

func TestSortAsTable_SortsWhatIsLeft(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		for erased := range 10 {
			f := newWithShields(t, stable)
			f.write(func(_ context.Context, w *store.Writer) {
				for i := range erased {
					f.items.Remove(w, f.hs[i*3%10])
				}
				f.shield.SortAsTable(w)
			})
			var want, got []store.Handle[item]
			for h := range f.items.All() {
				want = append(want, h)
			}
			err := f.shield.ForEach(t.Context(), func(c store.SparseChunk[item, int]) {
				for i, h := range c.Owners {
					equal(t, "handle of the item that has the data", f.hs[c.Items[i]], h)
				}
				got = append(got, c.Owners...)
			})
			if err != nil || !slices.Equal(got, want) || f.shield.Len() != 10-erased {
				t.Errorf("%d of 10 are erased: owners are %v, want %v; %v", erased, got, want, err)
			}
		}
	})
}

type withShields struct {
	*store.Store
	t      *testing.T
	items  itemTable
	shield *store.Sparse[item, int]
	hs     []store.Handle[item]
}

func newWithShields(t *testing.T, isStable bool) *withShields {
	f := &withShields{Store: newStore(t, store.Options{}), t: t}
	f.items = registerKind(t, f.Store, store.TableOptions[item]{Name: "ship"}, isStable)
	f.shield = addSparse(t, f.items, store.ColumnOptions[int]{Name: "shield"})
	q := queues(t, f.Store, 1)[0]
	for i := range 10 {
		h := f.items.Emplace(q, item{})
		f.shield.Set(q, h, i)
		f.hs = append(f.hs, h)
	}
	flush(t, f.Store)
	resolveAll(t, f.items, f.hs)
	return f
}

func (f *withShields) write(fn func(ctx context.Context, w *store.Writer)) {
	f.t.Helper()
	noError(f.t, onlyError(f.Frame(f.t.Context(), func(ctx context.Context, w *store.Writer) error {
		fn(ctx, w)
		return nil
	})))
	noError(f.t, f.Verify(f.t.Context()))
}
