package world

import (
	"handloom/store"

	"handloom/internal/entry"
)

// A shardName says which shard of which table a typeId is of.
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

// state is the digest of all shards behind the tick that was applied last.
func (w *World) state(tick uint64) entry.StateDigest {
	return entry.StateDigest{Tick: tick, Shards: w.digests(w.shards)}
}

// part is the part of the state that the record of the next tick tells: every shard
// once in DigestTicks ticks.
func (w *World) digestPart(tick uint64) entry.StateDigest {
	n, ticks := uint64(len(w.shards)), uint64(w.o.DigestTicks)
	at := tick % ticks
	return entry.StateDigest{Tick: tick, Shards: w.digests(w.shards[at*n/ticks : (at+1)*n/ticks])}
}

func (w *World) digests(of []shardName) []entry.ShardDigest {
	digests := make([]entry.ShardDigest, len(of))
	for i, s := range of {
		digests[i] = entry.ShardDigest{TypeID: s.typeID, Sum: w.digest(s.typeID)}
	}
	return digests
}

// digest is that of a shard, and of the store's epoch.
func (w *World) digest(typeID uint16) uint64 {
	return w.claim.DigestShard(typeID) ^ entry.Mix(w.store.Epoch())
}

// compare says in which shard the state differs from another one behind the same tick,
// which the record at this position tells of.
func (w *World) compare(at uint64, state entry.StateDigest) error {
	if n := len(w.shards); len(state.Shards) > n {
		return corrupt(at, "it has %d digests, and there are %d shards", len(state.Shards), n)
	}
	for _, d := range state.Shards {
		name, known := w.nameOf(d.TypeID)
		switch {
		case !known:
			return corrupt(at, "it has a digest of typeId %d, which no table has", d.TypeID)
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
