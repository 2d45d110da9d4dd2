package store_test

import (
	"fmt"
	"testing"

	hash "handloom/internal/digest"
	"handloom/store"
)

// Digest is the hash of DigestTables.
func TestDigestTables_NamesShardsOnce(t *testing.T) {
	s := newStore(t, store.Options{Workers: 3})
	ships := register(t, s, store.TableOptions[item]{Name: "ships", Shards: 5})
	shots := registerStable(t, s, store.TableOptions[item]{Name: "shots", Shards: 2, TypeID: 40})
	fill(t, s, ships, 100)
	shots.EmplaceItems(queues(t, s, 1)[0], make([]item, 50), nil)
	flush(t, s)

	var all hash.Hash
	tables, c := s.DigestTables(), claim(t, s)
	for i, want := range []store.TableDigest{{Name: "ships", TypeID: 1}, {Name: "shots", TypeID: 40}} {
		shards := tables[i].Shards
		if tables[i].Name != want.Name || tables[i].TypeID != want.TypeID || len(shards) != []int{5, 2}[i] {
			t.Errorf("table %d is %+v", i, tables[i])
		}
		for shard, d := range shards {
			all.Uint64(d)
			equal(t, fmt.Sprintf("digest of table %q, shard %d", want.Name, shard), c.DigestShard(want.TypeID+uint16(shard)), d)
		}
	}
	equal(t, "all.Sum", all.Sum(), digest(t, s))
	equal(t, "len(tables)", len(tables), 2)

	equal(t, "digest of typeIds without a table", c.DigestShard(0)|c.DigestShard(6)|c.DigestShard(60_000), 0)
	c.Release()

	byShard(ships)[3][7].Value++
	for i, after := range s.DigestTables() {
		for shard, d := range after.Shards {
			equal(t, fmt.Sprintf("table %s, shard %d changed", after.Name, shard), d != tables[i].Shards[shard], i == 0 && shard == 3)
		}
	}
}

// MinFree decides the slot of the next item.
func TestDigest_CoversMinFree(t *testing.T) {
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
