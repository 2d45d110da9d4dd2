package world

import (
	"fmt"
	"slices"

	"handloom/internal/entry"
	"handloom/store"
)

type shardName struct {
	typeID uint16
	table  string
	number int // of the table, in the order of registration
	shard  int
}

func shardsOf(s *store.Store) (shards []shardName) {
	for number, t := range s.DigestTables() {
		for i := range t.Shards {
			shards = append(shards, shardName{t.TypeID + uint16(i), t.Name, number, i})
		}
	}
	return shards
}

func (w *World) state(h *position) entry.StateDigest {
	state := entry.StateDigest{Tick: h.tick}
	for _, s := range w.shards {
		state.Shards = append(state.Shards, entry.ShardDigest{TypeID: s.typeID, Sum: w.digest(s.typeID)})
	}
	return state
}

const (
	digestBytes    = 256 << 10 // of shards, to hash per tick
	minDigestBytes = 16 << 10  // the least price of a shard: its digest takes room in the record
)

// digestPart returns the digests for the next record: of the next shards, in turn, that the bytes
// for its ticks can pay, and of each shard once in DigestTicks. The price of a shard has its
// capacity, which differs between nodes, so it may only decide which digests a record has.
func (w *World) digestPart(h *position) entry.StateDigest {
	l, n, ticks, idle := w.role.(*leader), uint64(len(w.shards)), uint64(w.o.DigestTicks), uint64(h.Idle)
	due := min(n, (h.tick+1)*n/ticks-(h.tick-idle)*n/ticks)
	state, tables := entry.StateDigest{Tick: h.tick}, w.store.Stats()
	l.toHash += int64(idle+1) * digestBytes
	for done := range n {
		s := w.shards[l.compared%n]
		price := max(minDigestBytes, tables[s.number].Bytes/int64(tables[s.number].Shards))
		if done >= due && price > l.toHash {
			return state // later records have more to pay with
		}
		// A due shard is hashed even if it costs more: DigestTicks is a promise.
		l.toHash = max(0, l.toHash-price)
		l.compared++
		state.Shards = append(state.Shards, entry.ShardDigest{TypeID: s.typeID, Sum: w.digest(s.typeID)})
	}
	l.toHash = 0
	return state
}

// digest returns the digest of a shard, mixed with the store's epoch.
func (w *World) digest(typeID uint16) uint64 {
	return w.exclusive.DigestShard(typeID) ^ entry.Mix(w.store.Epoch())
}

// compare returns a DivergedError if a digest of a record differs. The epoch is in each digest, so another
// epoch changes all: a shard is named only if it differs by itself.
func (w *World) compare(at uint64, state entry.StateDigest) error {
	if n := len(w.shards); len(state.Shards) > n {
		return corrupt(at, "%d digests, want at most %d", len(state.Shards), n)
	}
	epoch, want := w.store.Epoch(), w.store.Epoch()
	for _, d := range state.Shards {
		i := slices.IndexFunc(w.shards, func(s shardName) bool { return s.typeID == d.TypeID })
		if i < 0 {
			return corrupt(at, "digest of unknown typeID %d", d.TypeID)
		}
		// Of an equal shard the epoch of the record is left, of another one a random number. Epochs of two
		// builds differ by less than 2^32, and a random number that is so near is an error, too.
		switch rest := entry.Unmix(w.exclusive.DigestShard(d.TypeID) ^ d.Sum); {
		case max(rest, epoch)-min(rest, epoch) > 1<<32:
			return &DivergedError{state.Tick, at, fmt.Sprintf("table %q, shard %d", w.shards[i].table, w.shards[i].shard)}
		case rest != epoch:
			want = rest
		}
	}
	if want != epoch {
		return &DivergedError{state.Tick, at, fmt.Sprintf("%d flushes with commands, want %d", epoch, want)}
	}
	return nil
}
