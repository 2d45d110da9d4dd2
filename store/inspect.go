package store

import (
	"context"
	"slices"

	"handloom/internal/digest"
)

// Stats are the figures of a store after its last flush.
type Stats struct {
	Epoch  uint64
	Tables []TableStats // in the order of registration
}

// TableStats are the figures of one table, over all its shards.
type TableStats struct {
	Name     string
	Shards   int
	Live     int   // items
	Vacant   int   // slots waiting to be issued again
	Depleted int   // slots that used their last generation
	Slots    int   // the three together
	Bytes    int64 // memory of the containers, capacity included
}

// Stats returns the figures as of the last flush or Write. It may be called from
// any goroutine at any time, and takes O(tables) time.
func (s *Store) Stats() Stats {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	return Stats{Epoch: s.stats.Epoch, Tables: slices.Clone(s.stats.Tables)}
}

// publishStats refreshes the figures of the tables that changed.
func (s *Store) publishStats(changed []table) {
	s.statsLock.Lock()
	defer s.statsLock.Unlock()
	s.stats.Epoch = s.epoch.Load()
	for _, t := range changed {
		s.stats.Tables[t.index()] = t.stats()
	}
}

func (t *tableBase[T]) stats() TableStats {
	sum := TableStats{Name: t.name, Shards: len(t.order)}
	for _, sh := range t.order {
		of := sh.Stats()
		sum.Live += of.Live
		sum.Vacant += of.Vacant
		sum.Depleted += of.Depleted
		sum.Slots += of.Slots
		sum.Bytes += of.Bytes
	}
	return sum
}

// Digest returns a 64-bit hash of the whole state: slots, generations, freelist
// order, depletion, row order and item values of every table; not capacity,
// epoch or pending batch. Stores with equal digests answer every future sequence
// of calls equally, but for a chance of one in 2^64. It shares the gate with
// Read and joins a Read or a Write.
func (s *Store) Digest(ctx context.Context) (uint64, error) {
	shards, err := s.inspect(ctx, func(t table, shard int, out *uint64) error {
		*out = t.digest(shard)
		return nil
	})
	if err != nil {
		return 0, err
	}
	var h digest.Hash
	for _, d := range shards {
		h.Uint64(d)
	}
	return h.Sum(), nil
}

// Verify checks every invariant of every shard and returns an error that cites
// the first one broken, by table and typeId, or nil. It shares the gate with
// Read and joins a Read or a Write.
func (s *Store) Verify(ctx context.Context) error {
	_, err := s.inspect(ctx, func(t table, shard int, _ *uint64) error { return t.verify(shard) })
	return err
}

// inspect calls f for every shard of every table, in parallel, and returns what
// it wrote in the order of tables and shards.
func (s *Store) inspect(ctx context.Context, f func(t table, shard int, out *uint64) error) ([]uint64, error) {
	p, err := s.enter(ctx, opInspect)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	var work []shardWork
	for _, t := range s.tables {
		_, shards := t.typeIDs()
		for i := range shards {
			work = append(work, shardWork{t, i})
		}
	}
	out := make([]uint64, len(work))
	err = s.runReading(p, len(work), func(i int) error { return f(work[i].table, work[i].shard, &out[i]) })
	return out, err
}
