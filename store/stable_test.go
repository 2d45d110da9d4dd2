package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"handloom/batch"
	"handloom/shard/slotmap"
	"handloom/store"
)

// newStable returns a store with one stable table of items.
func newStable(t tb, o store.Options, to store.TableOptions[item]) (*store.Store, *store.StableTable[item]) {
	t.Helper()
	s := newStore(t, o)
	return s, registerStable(t, s, to)
}

// fillStable creates items with the values from 0 to n-1 and returns their
// handles.
func fillStable(t tb, s *store.Store, table *store.StableTable[item], n int) []store.Handle[item] {
	t.Helper()
	q := queues(t, s, 1)[0]
	hs := make([]store.Handle[item], n)
	for i := range hs {
		hs[i] = table.Emplace(q, item{Value: uint64(i)})
	}
	flush(t, s)
	for i, p := range hs {
		h, ok := table.Resolve(p)
		if !ok {
			t.Fatalf("%v does not resolve", p)
		}
		hs[i] = h
	}
	return hs
}

// gappy returns a stable table of one shard with n rows of which those that
// gone names are empty, and the values of the items, which are row numbers.
func gappy(t tb, o store.TableOptions[item], n int, gone func(row int) bool) (*store.Store, *store.StableTable[item], []uint64) {
	t.Helper()
	s, table := newStable(t, store.Options{Workers: 3}, o)
	hs := fillStable(t, s, table, n)
	q := queues(t, s, 1)[0]
	var left []uint64
	for row, h := range hs {
		if gone(row) {
			table.Erase(q, h)
		} else {
			left = append(left, uint64(row))
		}
	}
	flush(t, s)
	return s, table, left
}

// gaps are ways to empty rows.
var gaps = map[string]func(row int) bool{
	"none":           func(int) bool { return false },
	"every other":    func(row int) bool { return row%2 == 0 },
	"most":           func(row int) bool { return row%17 != 3 },
	"the first":      func(row int) bool { return row == 0 },
	"a middle chunk": func(row int) bool { return row >= 8 && row < 16 },
	"all":            func(int) bool { return true },
}

func TestItemsOfAStableTableKeepTheirAddresses(t *testing.T) {
	sameEverywhere(t, store.Options{}, func(r *trial) {
		table := registerStable(r, r.Store, store.TableOptions[item]{Shards: 3, ChunkItems: 32})
		random := rand.New(rand.NewPCG(1, 2))
		addresses := map[store.Handle[item]]*item{}
		values := map[store.Handle[item]]uint64{}
		for flushes := range 30 {
			q := queues(r, r.Store, 1)[0]
			for h := range table.All() {
				if random.IntN(3) == 0 {
					table.Erase(q, h)
					delete(addresses, h)
					delete(values, h)
				} else if random.IntN(4) == 0 {
					values[h] = random.Uint64()
					table.Put(q, h, item{Value: values[h]})
				}
			}
			var names []store.ID
			for range random.IntN(20 * (flushes + 1)) {
				names = append(names, table.Emplace(q, item{Value: random.Uint64()}).ID)
			}
			r.flush(names...)
			kept := 0
			for h, v := range table.All() {
				if before, ok := addresses[h]; ok {
					kept++
					if before != v || v.Value != values[h] {
						r.Fatalf("flush %d: %v was at %p with %d, and is at %p with %d", flushes, h, before, values[h], v, v.Value)
					}
				}
				addresses[h], values[h] = v, v.Value
			}
			if len(addresses) != table.Len() || kept+len(names) != table.Len() {
				r.Fatalf("flush %d: %d items, %d of them kept and %d new", flushes, table.Len(), kept, len(names))
			}
		}
	})
}

func TestForEachVisitsEveryItemOfAStableTableOnce(t *testing.T) {
	const chunk = 8
	for what, gone := range gaps {
		for _, rows := range []int{0, 1, chunk - 1, chunk, chunk + 1, 100 * chunk, 100*chunk + 3} {
			t.Run(fmt.Sprintf("rows=%d/empty=%s", rows, what), func(t *testing.T) {
				s, table, want := gappy(t, store.TableOptions[item]{ChunkItems: chunk}, rows, gone)
				chunks := make([][]uint64, (rows+chunk-1)/chunk) // cut by rows
				var visits atomic.Int64
				err := table.ForEach(t.Context(), func(_ context.Context, c store.StableChunk[item]) error {
					visits.Add(1)
					for h, v := range c.All() {
						if int(h.ID.Slot())/chunk != c.Index || table.At(h) != v {
							t.Errorf("chunk %d holds %v", c.Index, h)
						}
						chunks[c.Index] = append(chunks[c.Index], v.Value)
						v.Value += 1000
					}
					return nil
				})
				if err != nil || int(visits.Load()) != len(chunks) {
					t.Fatalf("%d visits, want %d; %v", visits.Load(), len(chunks), err)
				}
				if got := slices.Concat(chunks...); !slices.Equal(got, want) {
					t.Errorf("visited %v, want %v", got, want)
				}
				flush(t, s)
				at := 0
				for h, v := range table.All() {
					if at == len(want) || v.Value != want[at]+1000 {
						t.Fatalf("item %d is %v with %d; its write in place is gone", at, h, v.Value)
					}
					at++
				}
				if at != len(want) || table.Len() != at {
					t.Errorf("%d items of %d, want %d", at, table.Len(), len(want))
				}
			})
		}
	}
}

func TestATaskMayStopAnywhereInAChunkAndEraseWhatItSees(t *testing.T) {
	s, table, left := gappy(t, store.TableOptions[item]{ChunkItems: 8}, 100, gaps["every other"])
	err := table.ForEach(t.Context(), func(_ context.Context, c store.StableChunk[item]) error {
		for h := range c.All() {
			table.Erase(c.Queue, h)
			c.Queue.Erase(h.ID)
			break
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if report := flush(t, s); report.Total != (batch.Counts{Erased: 13, Redundant: 13}) || table.Len() != len(left)-13 {
		t.Errorf("%v, %d items", report, table.Len())
	}
	for _, v := range table.All() {
		if v.Value%8 == 1 {
			t.Errorf("the first item of a chunk, %d, is still there", v.Value)
		}
	}
}

func TestFreedSlotsOfAStableTableAreReusedInAscendingOrder(t *testing.T) {
	s, table := newStable(t, store.Options{}, store.TableOptions[item]{})
	hs := fillStable(t, s, table, 10)
	q := queues(t, s, 1)[0]
	for _, slot := range []int{7, 2, 9, 4} {
		table.Erase(q, hs[slot])
	}
	flush(t, s)
	for i, h := range fillStable(t, s, table, 5) {
		if want := []store.ID{hs[2].ID + 1<<32, hs[4].ID + 1<<32, hs[7].ID + 1<<32, hs[9].ID + 1<<32, compose(1, 1, 10)}[i]; h.ID != want {
			t.Errorf("item %d has handle %v, want %v", i, h, want)
		}
	}
}

func TestReduceStableIsThePlainSumForAnyWorkers(t *testing.T) {
	for what, gone := range gaps {
		for _, rows := range []int{0, 1, 7, 8, 9, 800} {
			for _, workers := range workerCounts {
				s := newStore(t, store.Options{Workers: workers})
				table := registerStable(t, s, store.TableOptions[item]{ChunkItems: 8, Shards: 3})
				hs := fillStable(t, s, table, rows)
				q := queues(t, s, 1)[0]
				var want uint64
				for i, h := range hs {
					if gone(i) {
						table.Erase(q, h)
					} else {
						want += uint64(i)
					}
				}
				flush(t, s)
				if got, err := sumStable(t.Context(), table); got != want || err != nil {
					t.Errorf("%d rows, %s empty, %d workers: %d, %v; want %d", rows, what, workers, got, err, want)
				}
			}
		}
	}
}

func sumStable(ctx context.Context, table *store.StableTable[item]) (uint64, error) {
	return stableTable{table}.fold(ctx, func(_ int, items itemSeq) (sum uint64, err error) {
		for _, v := range items {
			sum += v.Value
		}
		return sum, nil
	})
}

func TestReduceStableCombinesInTheOrderOfChunks(t *testing.T) {
	_, table, want := gappy(t, store.TableOptions[item]{ChunkItems: 8}, 203, gaps["most"])
	type partial struct {
		chunks []int
		values []uint64
	}
	got, err := store.ReduceStable(t.Context(), table, func(_ context.Context, r store.StableRows[item]) (partial, error) {
		p := partial{chunks: []int{r.Index}}
		for _, v := range r.All() {
			p.values = append(p.values, v.Value)
		}
		return p, nil
	}, func(a, b partial) partial {
		return partial{append(a.chunks, b.chunks...), append(a.values, b.values...)}
	})
	if err != nil || !slices.Equal(got.values, want) || len(got.chunks) != 26 || !slices.IsSorted(got.chunks) {
		t.Errorf("%+v, %v; want %v", got, err, want)
	}
}

func TestReduceStableInsideAPassOverTheSameTableIsErrPhase(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newStable(t, store.Options{Workers: 2}, store.TableOptions[item]{})
		other := registerStable(t, s, store.TableOptions[item]{Name: "other"})
		packed := register(t, s, store.TableOptions[item]{Name: "packed"})
		fillStable(t, s, table, 3)
		fillStable(t, s, other, 3)
		fill(t, s, packed, 3)
		err := table.ForEach(t.Context(), func(ctx context.Context, _ store.StableChunk[item]) error {
			if _, err := sumStable(ctx, table); !errors.Is(err, store.ErrPhase) {
				t.Errorf("over the table that is written: %v", err)
			}
			if n, err := sumStable(ctx, other); n != 3 || err != nil {
				t.Errorf("over another: %d, %v", n, err)
			}
			if n, err := sum(ctx, packed); n != 3 || err != nil {
				t.Errorf("over a packed one: %d, %v", n, err)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		err = packed.ForEach(t.Context(), func(ctx context.Context, _ store.Chunk[item]) error {
			n, err := sumStable(ctx, table)
			if n != 3 {
				t.Errorf("inside a pass over a packed one: %d", n)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestAPassOverAStableTableThatFailsRecordsNothing(t *testing.T) {
	sameEverywhere(t, store.Options{}, func(r *trial) {
		table := registerStable(r, r.Store, store.TableOptions[item]{Shards: 2, ChunkItems: 4})
		fillStable(r, r.Store, table, 40)
		for _, wrong := range []error{nil, errTask} {
			err := table.ForEach(r.ctx, func(_ context.Context, c store.StableChunk[item]) error {
				for h, v := range c.All() {
					v.Value++
					table.Erase(c.Queue, h)
				}
				if c.Index == 3 && wrong == nil {
					panic(errTask)
				}
				if c.Index > 3 {
					return wrong
				}
				return nil
			})
			var fault *store.PanicError
			if !errors.Is(err, errTask) || errors.As(err, &fault) != (wrong == nil) {
				r.Fatalf("the pass returned %v", err)
			}
		}
		if report := r.flush(); report.Total != (batch.Counts{}) || table.Len() != 40 {
			r.Fatalf("%v, %d items", report, table.Len())
		}
		for h, v := range table.All() { // fillStable gave 0 to 39 to slots of two shards in order
			if want := uint64(h.ID.Slot()) + 20*uint64(h.ID.TypeID()-1) + 2; v.Value != want {
				r.Fatalf("%v holds %d, want %d", h, v.Value, want)
			}
		}
	})
}

func TestLookupsOfAStableTable(t *testing.T) {
	for _, shards := range []int{1, 2, 3, 64} {
		s, table := newStable(t, store.Options{}, store.TableOptions[item]{Name: "stable", Shards: shards, TypeID: 61})
		hs := fillStable(t, s, table, 200)
		table.Erase(queues(t, s, 1)[0], hs[1])
		flush(t, s)
		before := digest(t, s)
		for i, h := range hs {
			v, ok := table.Get(h)
			typed, isOurs := table.Handle(h.ID)
			if live := i != 1; ok != live || table.Has(h) != live || s.Has(h.ID) != live || !isOurs || typed != h ||
				live && (v.Value != uint64(i) || table.At(h) != v) {
				t.Fatalf("%d shards: item %d, %v: %v, %t, Handle gives %v, %t", shards, i, h, v, ok, typed, isOurs)
			}
		}
		for what, id := range badHandles(hs[0].ID, hs[1].ID) {
			q := queues(t, s, 1)[0]
			table.Erase(q, handleOf(id))
			table.EraseItems(q, []store.Handle[item]{handleOf(id)})
			table.Put(q, handleOf(id), item{Value: 1})
			q.Erase(id)
			if report := flush(t, s); report.Total != (batch.Counts{Stale: 4}) || digest(t, s) != before ||
				table.Has(handleOf(id)) || s.Has(id) {
				t.Errorf("%d shards, handle %v (%s): %v", shards, id, what, report)
			}
		}
		if _, ok := table.Handle(compose(60, 1, 0)); ok {
			t.Error("Handle takes an id of no shard")
		}
		if _, ok := table.Handle(compose(uint16(61+shards), 1, 0)); ok {
			t.Error("Handle takes an id of no shard")
		}
		func() {
			defer func() {
				stale, ok := recover().(*store.StaleError)
				if !ok || stale.Handle != hs[1].ID {
					t.Errorf("At panics with %v", stale)
				}
			}()
			table.At(hs[1])
		}()
		n := 0
		for h, v := range table.All() {
			if hs[v.Value] != h || v != table.At(h) {
				t.Fatalf("All gives %v with %d", h, v.Value)
			}
			if n++; n == 150 {
				break
			}
		}
		if n != 150 || table.Len() != 199 || table.Name() != "stable" {
			t.Errorf("%d of %d items of %q", n, table.Len(), table.Name())
		}
	}
}

func TestAWriterChangesAStableTableAtOnce(t *testing.T) {
	s, table := newStable(t, store.Options{}, store.TableOptions[item]{Shards: 2, MaxItems: 5})
	stranger := newStore(t, store.Options{})
	var hs []store.Handle[item]
	var kept *store.Writer
	err := s.Write(t.Context(), func(ctx context.Context, w *store.Writer) error {
		kept = w
		for i := range 6 {
			h, err := table.Insert(w, item{Value: uint64(i)})
			if full := i == 5; full != errors.Is(err, store.ErrFull) || full != h.ID.IsZero() {
				t.Fatalf("Insert %d: %v, %v", i, h, err)
			}
			hs = append(hs, h)
		}
		maps := store.StableMaps(table, w)
		if len(maps) != 2 || maps[0].Len() != 3 || maps[1].Len() != 2 || maps[1].TypeID() != 2 {
			t.Fatalf("the maps are %v", maps)
		}
		if !maps[0].Erase(hs[2]) || table.Has(hs[2]) || table.Len() != 4 {
			t.Errorf("an erase through the maps does not show")
		}
		return stranger.Write(context.Background(), func(_ context.Context, other *store.Writer) error {
			if got := panicOf(func() { store.StableMaps(table, other) }); !strings.Contains(got, "Maps with the Writer of another store") {
				t.Errorf("Maps panics with %q", got)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Stats().Tables[0]; got.Live != 4 || got.Vacant != 1 || got.Slots != 5 || got.Shards != 2 || got.Bytes <= 0 {
		t.Errorf("%+v", got)
	}
	for what, change := range map[string]func(){
		"Insert": func() { _, _ = table.Insert(kept, item{}) },
		"Clear":  func() { table.Clear(kept) },
		"Maps":   func() { store.StableMaps(table, kept) },
	} {
		if got := panicOf(change); !strings.Contains(got, what+" with a Writer whose Write has ended") {
			t.Errorf("%s panics with %q", what, got)
		}
	}
	err = s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		table.Clear(w)
		h, err := table.Insert(w, item{Value: 9})
		if h.ID != hs[2].ID+1<<32 { // it was vacant before Clear freed the others
			t.Errorf("after Clear: %v", h)
		}
		return err
	})
	if got := s.Stats().Tables[0]; err != nil || got.Live != 1 || got.Vacant != 4 || table.Len() != 1 {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestLinksBetweenTablesOfBothKindsBecomeReal(t *testing.T) {
	s, packed := newTable(t, store.Options{}, store.TableOptions[item]{Name: "packed", Shards: 2})
	stable := registerStable(t, s, store.TableOptions[item]{Name: "stable", Shards: 3})
	old := fillStable(t, s, stable, 1)[0]
	at := stable.At(old)
	qs := queues(t, s, 2)
	self := store.EmplaceFunc(stable, qs[1], func(h store.Handle[item], v *item) { v.Parent = h })
	p := packed.Emplace(qs[0], item{Links: [2]store.ID{self.ID, old.ID}})
	gone := packed.Emplace(qs[1], item{})
	packed.Erase(qs[1], gone)
	v, ok := stable.Staged(qs[1], self)
	if !ok {
		t.Fatal("the item is not staged")
	}
	v.Links = [2]store.ID{p.ID, gone.ID}
	stable.Put(qs[0], old, item{Parent: self, Links: [2]store.ID{p.ID, old.ID}})
	if report := flush(t, s); report.Total != (batch.Counts{Created: 2, Put: 1, CancelledOut: 2, Dangling: 1}) {
		t.Error(report)
	}
	p = resolve(t, packed, p)
	self, ok = stable.Resolve(self)
	if got := *stable.At(self); !ok || got != (item{Parent: self, Links: [2]store.ID{p.ID, 0}}) {
		t.Errorf("the stable item holds %+v; it is %v", got, self)
	}
	if got := *packed.At(p); got != (item{Links: [2]store.ID{self.ID, old.ID}}) {
		t.Errorf("the packed item holds %+v", got)
	}
	if got := *at; got != (item{Parent: self, Links: [2]store.ID{p.ID, old.ID}}) || stable.At(old) != at {
		t.Errorf("the item put holds %+v", got)
	}
}

func TestAStableTableThatIsFullChangesNothing(t *testing.T) {
	setWidths(t, 3, 8)
	for what, c := range map[string]struct {
		options store.TableOptions[item]
		fits    int
	}{
		"MaxItems":        {store.TableOptions[item]{Shards: 3, MaxItems: 7}, 7},
		"the slots":       {store.TableOptions[item]{Shards: 2}, 16},
		"despite MinFree": {store.TableOptions[item]{Shards: 2, MinFree: 5}, 16},
	} {
		t.Run(what, func(t *testing.T) {
			s, table := newStable(t, store.Options{}, c.options)
			other := register(t, s, store.TableOptions[item]{Name: "other"})
			hs := fillStable(t, s, table, c.fits)
			before, at := digest(t, s), table.At(hs[3])
			for _, more := range []int{3, 4, 2} { // two are erased
				q := queues(t, s, 1)[0]
				other.Emplace(q, item{})
				table.Put(q, hs[3], item{Value: 55})
				table.EraseItems(q, hs[:2])
				table.EmplaceItems(q, make([]item, more), nil)
				_, err := s.Flush(t.Context())
				if more == 2 {
					if err != nil {
						t.Fatal(err)
					}
					break
				}
				if !errors.Is(err, store.ErrFull) || digest(t, s) != before || table.Len() != c.fits || other.Len() != 0 {
					t.Errorf("%d for two: %v, digest %x, %d items", more, err, digest(t, s), table.Len())
				}
				if err := s.Discard(); err != nil {
					t.Fatal(err)
				}
			}
			if table.Len() != c.fits || other.Len() != 1 || table.At(hs[3]) != at || at.Value != 55 {
				t.Errorf("%d items and %d, %+v", table.Len(), other.Len(), at)
			}
			before = digest(t, s)
			err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
				_, err := table.Insert(w, item{})
				return err
			})
			if !errors.Is(err, store.ErrFull) || digest(t, s) != before {
				t.Errorf("Insert: %v", err)
			}
		})
	}
}

// A slot that has used its last generation costs its row: it is stepped over
// and never issued again.
func TestDepletedSlotsOfAStableTableStayEmptyRows(t *testing.T) {
	setWidths(t, 2, 4)
	s, table := newStable(t, store.Options{}, store.TableOptions[item]{ChunkItems: 1})
	fillStable(t, s, table, 4)
	for range 2 {
		q := queues(t, s, 1)[0]
		for h := range table.All() {
			if h.ID.Slot()%2 == 0 {
				table.Erase(q, h)
			}
		}
		flush(t, s)
		if s.Stats().Tables[0].Depleted == 0 {
			fillStable(t, s, table, 2)
		}
	}
	if got := s.Stats().Tables[0]; got.Live != 2 || got.Depleted != 2 || got.Vacant != 0 || got.Slots != 4 {
		t.Fatalf("%+v", got)
	}
	var chunks, items atomic.Int64
	err := table.ForEach(t.Context(), func(_ context.Context, c store.StableChunk[item]) error {
		chunks.Add(1)
		for range c.All() {
			items.Add(1)
		}
		return nil
	})
	if err != nil || chunks.Load() != 4 || items.Load() != 2 {
		t.Errorf("%d chunks with %d items, %v", chunks.Load(), items.Load(), err)
	}
	table.Emplace(queues(t, s, 1)[0], item{})
	if _, err := s.Flush(t.Context()); !errors.Is(err, store.ErrFull) {
		t.Errorf("Flush: %v", err)
	}
}

func TestAfterCloseLookupsInAStableTableFindNothing(t *testing.T) {
	atOnce(t, func(t *testing.T) {
		s, table := newStable(t, store.Options{}, store.TableOptions[item]{Shards: 3})
		p := table.EmplaceItems(queues(t, s, 1)[0], make([]item, 5), nil)[4]
		flush(t, s)
		h, ok := table.Resolve(p)
		if !ok || !table.Has(h) {
			t.Fatalf("%v, %t", h, ok)
		}
		table.EmplaceItems(queues(t, s, 1)[0], make([]item, 4), nil)
		if unapplied, err := s.Close(t.Context()); unapplied != 4 || err != nil {
			t.Errorf("Close: %d commands, %v", unapplied, err)
		}
		if _, ok := table.Get(h); ok || table.Has(h) || s.Has(h.ID) || table.Len() != 0 {
			t.Errorf("a lookup finds an item of %d", table.Len())
		}
		if panicOf(func() { table.At(h) }) == "" {
			t.Error("At finds an item")
		}
		for h := range table.All() {
			t.Errorf("All finds %v", h)
		}
		if h, ok := table.Resolve(p); ok {
			t.Errorf("a name resolves to %v", h)
		}
		if got := s.Stats(); got.Tables[0].Live != 5 {
			t.Errorf("Stats are no longer those of the last flush: %+v", got)
		}
		err := table.ForEach(t.Context(), func(context.Context, store.StableChunk[item]) error { return nil })
		_, reduced := sumStable(t.Context(), table)
		_, late := store.RegisterStable(s, store.TableOptions[item]{Name: "late"})
		for what, err := range map[string]error{"ForEach": err, "ReduceStable": reduced, "RegisterStable": late} {
			if !errors.Is(err, store.ErrClosed) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func TestRegisterStableRefusesWhatRegisterDoes(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Name: "taken", TypeID: 3, Shards: 2})
	for part, o := range map[string]store.TableOptions[item]{
		"taken":        {Name: "taken"},
		"4 to 4":       {TypeID: 4},
		"Shards 65":    {Shards: 65},
		"MinFree -1":   {MinFree: -1},
		"ChunkItems":   {ChunkItems: -1},
		"Reserve":      {Reserve: 9, MaxItems: 8},
		"MaxItems -1":  {MaxItems: -1},
		"32767 to 327": {TypeID: 32767, Shards: 2},
	} {
		if _, err := store.RegisterStable(s, o); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not mention %s: %v", part, err)
		}
	}
	if _, err := store.RegisterStable(s, store.TableOptions[hidden]{}); err == nil || !strings.Contains(err.Error(), "hidden.Inner.Targets") {
		t.Errorf("handles behind a slice: %v", err)
	}
	err := table.ForEach(t.Context(), func(context.Context, store.Chunk[item]) error { return nil })
	if err != nil || len(s.Stats().Tables) != 1 {
		t.Errorf("%v; the store has changed", err)
	}
	err = s.Read(t.Context(), func(context.Context) error {
		_, err := store.RegisterStable(s, store.TableOptions[item]{})
		return err
	})
	if !errors.Is(err, store.ErrPhase) {
		t.Errorf("inside a phase: %v", err)
	}
	var maps []*slotmap.Map[item]
	stable := registerStable(t, s, store.TableOptions[item]{Reserve: 100, Shards: 2})
	err = s.Write(t.Context(), func(_ context.Context, w *store.Writer) error { maps = store.StableMaps(stable, w); return nil })
	if err != nil || len(maps) != 2 || maps[0].Cap() < 50 || maps[0].TypeID() != 1 || maps[1].TypeID() != 2 {
		t.Errorf("%v, %v", err, maps)
	}
}

// Rollback keeps the address of each item that lives before and after it; Load makes new
// pages.
func TestStableTable_AddressesAfterRollbackAndLoad(t *testing.T) {
	s := newStore(t, store.Options{})
	table := registerStable(t, s, store.TableOptions[item]{Shards: 2})
	const n = 300
	q := queues(t, s, 1)[0]
	for i := range n {
		table.Emplace(q, item{Value: uint64(i)})
	}
	flush(t, s)
	addresses := func() map[store.Handle[item]]*item {
		return maps.Collect(table.All())
	}
	before := addresses()
	var saved bytes.Buffer
	var c store.Checkpoint
	if err := errors.Join(s.Snapshot(t.Context(), &saved), s.Checkpoint(t.Context(), &c)); err != nil {
		t.Fatal(err)
	}
	q = queues(t, s, 1)[0]
	for h := range before {
		if h.ID.Slot()%3 == 0 {
			table.Erase(q, h)
		}
		table.Emplace(q, item{Value: 1})
	}
	flush(t, s)
	if err := s.Rollback(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	for h, v := range addresses() {
		if before[h] != v && h.ID.Slot()%3 != 0 {
			t.Errorf("after Rollback %v is at %p, before at %p", h, v, before[h])
		}
	}
	if err := s.Load(t.Context(), &saved); err != nil {
		t.Fatal(err)
	}
	after := addresses()
	if len(after) != n {
		t.Errorf("%d items after Load, want %d", len(after), n)
	}
	for h, old := range before {
		v := after[h]
		if v == nil || v == old {
			t.Fatalf("after Load %v is at %p, before at %p", h, v, old)
		}
		old.Value += 1000
		if want := old.Value - 1000; v.Value != want {
			t.Errorf("%v is %d after a write to the old address, want %d", h, v.Value, want)
		}
	}
}
