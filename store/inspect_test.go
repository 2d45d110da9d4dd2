package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	hash "handloom/internal/digest"
	"handloom/store"
)

// Digest hashes what DigestTables tells apart.
func TestDigestTablesNamesEveryShardOnce(t *testing.T) {
	s := newStore(t, store.Options{Workers: 3})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Shards: 5})
	shots := registerStable(t, s, store.TableOptions[item]{Name: "shots", Shards: 2, TypeID: 40})
	fill(t, s, ships, 100)
	shots.EmplaceItems(queues(t, s, 1)[0], make([]item, 50), nil)
	flush(t, s)

	var all hash.Hash
	tables := s.DigestTables()
	for i, want := range []store.TableDigest{{Name: "ships", TypeID: 1}, {Name: "shots", TypeID: 40}} {
		shards := tables[i].Shards
		if tables[i].Name != want.Name || tables[i].TypeID != want.TypeID || len(shards) != []int{5, 2}[i] {
			t.Errorf("table %d is %+v", i, tables[i])
		}
		for _, d := range shards {
			all.Uint64(d)
		}
	}
	if all.Sum() != digest(t, s) || len(tables) != 2 {
		t.Errorf("the digests of %d tables do not add up to the store's", len(tables))
	}

	// A change of one item shows in its shard alone.
	err := s.Write(t.Context(), func(_ context.Context, w *store.Writer) error {
		store.Maps(ships, w)[3].Items()[7].Value++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, after := range s.DigestTables() {
		for shard, d := range after.Shards {
			if changed := d != tables[i].Shards[shard]; changed != (i == 0 && shard == 3) {
				t.Errorf("table %s, shard %d: changed is %v", after.Name, shard, changed)
			}
		}
	}
}

// MinFree decides which slot the next item gets, so that stores which differ in it
// alone do not answer equally.
func TestMinFreeIsInTheDigest(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		var digests [2]uint64
		var next [2]store.ID
		for minFree := range next {
			s := newStore(t, store.Options{})
			table := registerKind(t, s, store.TableOptions[item]{MinFree: minFree}, stable)
			table.EmplaceItems(queues(t, s, 1)[0], make([]item, 2), nil)
			flush(t, s)
			table.Erase(queues(t, s, 1)[0], handleOf(compose(1, 1, 0)))
			flush(t, s)
			digests[minFree] = digest(t, s)
			p := table.Emplace(queues(t, s, 1)[0], item{})
			flush(t, s)
			next[minFree] = resolve(t, table, p).ID
		}
		if next != [2]store.ID{compose(1, 2, 0), compose(1, 1, 2)} || digests[0] == digests[1] {
			t.Errorf("stores with digests %x issue %v next", digests, next)
		}
	})
}

func TestDumpYieldsTheItemsOfAShardAsTheyLie(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		first := registerKind(t, s, store.TableOptions[item]{Name: "first", Shards: 3}, stable)
		table := registerKind(t, s, store.TableOptions[item]{Name: "second", Shards: 2, TypeID: 9}, stable)
		for _, table := range []itemTable{first, table} {
			q := queues(t, s, 1)[0]
			for i := range 40 {
				table.Emplace(q, item{Value: uint64(i)})
			}
			flush(t, s)
		}
		for h := range table.All() {
			if h.ID.Slot()%3 == 0 {
				table.Erase(queues(t, s, 1)[0], h)
			}
		}
		flush(t, s)

		var want, got []string
		for h, v := range table.All() {
			want = append(want, fmt.Sprint(h.ID, v, *v))
		}
		for typeID := range uint16(2) {
			for id, v := range s.Dump(9 + typeID) {
				got = append(got, fmt.Sprint(id, v, *v.(*item)))
				if other, ok := table.Get(handleOf(id)); !ok || other != v || id.TypeID() != 9+typeID {
					t.Errorf("typeId %d: %v names another item", 9+typeID, id)
				}
			}
		}
		if !slices.Equal(got, want) || len(got) == 0 {
			t.Errorf("it yields\n%v, want\n%v", got, want)
		}
		for range s.Dump(10) {
			break // and no more is yielded
		}
		for _, none := range []uint16{0, 4, 8, 11, 40_000} {
			for id := range s.Dump(none) {
				t.Errorf("typeId %d, which no table has: %v", none, id)
			}
		}
	})
}

// DumpTable yields what Dump yields of all shards, from anywhere on.
func TestDumpTableBeginsWhereItIsAsked(t *testing.T) {
	bothKinds(t, func(t *testing.T, stable bool) {
		s := newStore(t, store.Options{})
		table := registerKind(t, s, store.TableOptions[item]{Name: "ships", Shards: 3}, stable)
		q := queues(t, s, 1)[0]
		for i := range 300 {
			table.Emplace(q, item{Value: uint64(i)})
		}
		flush(t, s)
		for h := range table.All() {
			if h.ID.Slot()%3 == 0 || h.ID.TypeID() == 2 {
				table.Erase(queues(t, s, 1)[0], h)
			}
		}
		flush(t, s)

		var all, got []store.ID
		for typeID := range uint16(3) {
			for id := range s.Dump(1 + typeID) {
				all = append(all, id)
			}
		}
		for n := -1; n <= len(all)+1; n++ {
			got = got[:0]
			for id, v := range s.DumpTable("ships", n) {
				got = append(got, id)
				if other, ok := table.Get(handleOf(id)); !ok || other != v {
					t.Errorf("%v names another item", id)
				}
			}
			if want := all[min(max(n, 0), len(all)):]; !slices.Equal(got, want) {
				t.Fatalf("without the first %d it yields\n%v, want\n%v", n, got, want)
			}
		}
		for range s.DumpTable("ships", 60) {
			break // and no more is yielded
		}
		for id := range s.DumpTable("shots", 0) {
			t.Errorf("of a table that does not exist it yields %v", id)
		}
	})
}

func TestTheDigestOfOneShardIsThatOfAll(t *testing.T) {
	s, table := newTable(t, store.Options{}, store.TableOptions[item]{Shards: 3, TypeID: 5})
	registerStable(t, s, store.TableOptions[item]{Name: "stable", Shards: 2})
	fill(t, s, table, 100)
	for _, of := range s.DigestTables() {
		for shard, want := range of.Shards {
			if got := s.DigestShard(of.TypeID + uint16(shard)); got != want {
				t.Errorf("table %q, shard %d: %x, want %x", of.Name, shard, got, want)
			}
		}
	}
	if got := s.DigestShard(0) | s.DigestShard(4) | s.DigestShard(60_000); got != 0 {
		t.Errorf("typeIds that no table has: %x", got)
	}
}
