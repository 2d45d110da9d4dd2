package world

import (
	"handloom/store"

	"handloom/internal/entry"
)

type shardName struct {
	typeID uint16
	table  string
	shard  int
}

func shardsOf(s *store.Store) (shards []shardName) {
	for _, t := range s.DigestTables() {
		for i := range t.Shards {
			shards = append(shards, shardName{t.TypeID + uint16(i), t.Name, i})
		}
	}
	return shards
}

func (w *World) state(tick uint64) entry.StateDigest {
	return entry.StateDigest{Tick: tick, Shards: w.digests(w.shards)}
}

// digestPart returns the digests for the next record: each shard once in DigestTicks ticks, and
// so the parts of all ticks since the record before.
func (w *World) digestPart(h *position) entry.StateDigest {
	n, ticks, idle := uint64(len(w.shards)), uint64(w.o.DigestTicks), uint64(h.Idle)
	if idle >= ticks-1 {
		return w.state(h.tick)
	}
	state := entry.StateDigest{Tick: h.tick}
	for tick := h.tick - idle; tick <= h.tick; tick++ {
		at := tick % ticks
		state.Shards = append(state.Shards, w.digests(w.shards[at*n/ticks:(at+1)*n/ticks])...)
	}
	return state
}

func (w *World) digests(shards []shardName) []entry.ShardDigest {
	digests := make([]entry.ShardDigest, len(shards))
	for i, s := range shards {
		digests[i] = entry.ShardDigest{TypeID: s.typeID, Sum: w.digest(s.typeID)}
	}
	return digests
}

// digest returns the digest of a shard, mixed with the store's epoch.
func (w *World) digest(typeID uint16) uint64 {
	return w.exclusive.DigestShard(typeID) ^ entry.Mix(w.store.Epoch())
}

func (w *World) compare(at uint64, state entry.StateDigest) error {
	if n := len(w.shards); len(state.Shards) > n {
		return corrupt(at, "%d digests, want at most %d", len(state.Shards), n)
	}
	for _, d := range state.Shards {
		name, known := w.nameOf(d.TypeID)
		switch {
		case !known:
			return corrupt(at, "digest of unknown typeID %d", d.TypeID)
		case w.digest(d.TypeID) != d.Sum:
			return &DivergedError{Tick: state.Tick, At: at, Table: name.table, Shard: name.shard}
		}
	}
	return nil
}

func (w *World) nameOf(typeID uint16) (shardName, bool) {
	for _, s := range w.shards {
		if s.typeID == typeID {
			return s, true
		}
	}
	return shardName{}, false
}
