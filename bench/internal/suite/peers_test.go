package suite

import (
	"context"
	"math/rand/v2"
	"testing"

	"handloom/tasks"
)

func TestPeers_HoldTheMixedLoad(t *testing.T) {
	const n = 400
	peers := map[string]peer{
		"table":           newTablePeer(4),
		"syncmap":         newShared(&syncMap{}),
		"xsync":           newShared(newXsync()),
		"rwmutexmap":      newShared(newLockedMap()),
		"shardedmap":      newShared(newShardedMap()),
		"rwmutexstraight": newShared(newLockedBaseline()),
	}
	for name, r := range peers {
		m := newMix(rand.New(rand.NewPCG(1, 2)), n)
		r.fill(n)
		_ = tasks.WithTeam(t.Context(), 4, func(ctx context.Context) error {
			for range 60 {
				var f mixTick
				m.draw(&f)
				r.tick(ctx, &f)
			}
			return nil
		})
		found := found(r)
		if len(found) != n {
			t.Errorf("%s holds %d items; want %d", name, len(found), n)
		}
		for _, entry := range m.live {
			if v, ok := found[entry]; !ok || v != uint64(entry) {
				t.Errorf("%s: entry %d is %d, %v", name, entry, v, ok)
			}
		}
	}
}

func found(r peer) map[uint32]uint64 {
	sums := make(map[uint32]uint64)
	if r, ok := r.(*tablePeer); ok {
		for i, h := range r.directory {
			if v, ok := r.table.Get(h); ok {
				sums[uint32(i)] = v.v
			}
		}
		return sums
	}
	var keys directory
	var get func(key uint64) (item8, bool)
	switch m := r.(*shared).sharedMap.(type) {
	case *syncMap:
		keys, get = m.directory, func(key uint64) (item8, bool) {
			v, _ := m.m.Load(key)
			item, ok := v.(item8)
			return item, ok
		}
	case *xsyncMap:
		keys, get = m.directory, m.m.Load
	case *lockedMap:
		keys, get = m.directory, func(key uint64) (item8, bool) { return lookedUp(m.m, key) }
	case *shardedMap:
		keys, get = m.directory, func(key uint64) (v item8, ok bool) {
			for s := 0; s < len(m.shards) && !ok; s++ {
				v, ok = lookedUp(m.shards[s].m, key)
			}
			return v, ok
		}
	case *lockedBaseline:
		keys, get = m.directory, func(key uint64) (v item8, ok bool) {
			if p, ok := m.m.get(key); ok {
				return *p, ok
			}
			return v, false
		}
	}
	for i, key := range keys {
		if v, ok := get(key); ok {
			sums[uint32(i)] = v.v
		}
	}
	return sums
}

func lookedUp(m map[uint64]item8, key uint64) (v item8, ok bool) {
	v, ok = m[key]
	return v, ok
}

// These promises let tasks use the directory without a lock.
func TestMix_KeepsItsPromises(t *testing.T) {
	const n = 1000
	m := newMix(rand.New(rand.NewPCG(3, 4)), n)
	live := make(map[uint32]bool)
	for i := range n {
		live[uint32(i)] = true
	}
	for tick := range 50 {
		var f mixTick
		m.draw(&f)
		var count [3]int
		written, erased := make(map[uint32]bool), make(map[uint32]bool)
		for task := range f.steps {
			inserted := 0
			for _, s := range f.steps[task] {
				count[s.kind()]++
				switch {
				case s.kind() == insert && (live[s.entry()] || written[s.entry()]),
					s.kind() == erase && (!live[s.entry()] || erased[s.entry()]),
					s.kind() == lookUp && !live[s.entry()]:
					t.Fatalf("tick %d: step %+v of an entry that is live: %v", tick, s, live[s.entry()])
				case s.kind() == insert:
					written[s.entry()] = true
					if f.inserted[task][inserted] != s.entry() {
						t.Fatalf("tick %d: what task %d inserted is listed as %v", tick, task, f.inserted[task])
					}
					inserted++
				case s.kind() == erase:
					erased[s.entry()] = true
				}
			}
			if len(f.inserted[task]) != inserted {
				t.Fatalf("tick %d: task %d inserts %d, %d are listed", tick, task, inserted, len(f.inserted[task]))
			}
		}
		if count != [3]int{lookUp: 900, insert: 50, erase: 50} {
			t.Fatalf("tick %d has %v steps of a kind", tick, count)
		}
		for e := range written {
			live[e] = true
		}
		for e := range erased {
			delete(live, e)
		}
	}
}
