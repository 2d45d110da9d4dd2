package world

import "handloom/store"

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
func (w *World) state(tick uint64) stateDigest {
	return stateDigest{tick, w.digests(w.shards)}
}

// part is the part of the state that the record of the next tick tells: every shard
// once in DigestTicks ticks.
func (w *World) part(tick uint64) stateDigest {
	n, ticks := uint64(len(w.shards)), uint64(w.o.DigestTicks)
	at := tick % ticks
	return stateDigest{tick, w.digests(w.shards[at*n/ticks : (at+1)*n/ticks])}
}

func (w *World) digests(of []shardName) []shardDigest {
	digests := make([]shardDigest, len(of))
	for i, s := range of {
		digests[i] = shardDigest{s.typeID, w.digest(s.typeID)}
	}
	return digests
}

// digest is that of a shard, and of the store's epoch.
func (w *World) digest(typeID uint16) uint64 {
	return w.store.DigestShard(typeID) ^ mix(w.store.Epoch())
}

// compare says in which shard the state differs from another one behind the same tick,
// which the record at this position tells of.
func (w *World) compare(at uint64, state stateDigest) error {
	if n := len(w.shards); len(state.shards) > n {
		return corrupt(at, "it has %d digests, and there are %d shards", len(state.shards), n)
	}
	for _, d := range state.shards {
		name, known := w.nameOf(d.typeID)
		switch {
		case !known:
			return corrupt(at, "it has a digest of typeId %d, which no table has", d.typeID)
		case w.digest(d.typeID) != d.sum:
			return &DivergedError{Tick: state.tick, At: at, Table: name.table, Shard: name.shard}
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
