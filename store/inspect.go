package store

import (
	"context"
	"iter"

	"handloom/internal/check"
	"handloom/internal/digest"
)

// Digest returns a 64-bit hash of the whole state: slots, generations, freelist order,
// depletion, MinFree, row order and item values of every table; not capacity, epoch or
// pending batch. It shares the gate with Read and joins a Read or a Frame.
//
// Stores with equal digests respond to all future calls equally, with an error
// probability of 2^-64. The digest does not include the change lists of the last frame
// ([Created], [Erased], [Written]) or the names of its creates, which a Rollback drops.
//
// The hash includes values in nested structs, arrays, strings, slices, maps and
// interfaces. It does not include targets of pointers, functions, channels, fields named
// _, or options other than MinFree, so compare stores with equal options.
func (s *Store) Digest(ctx context.Context) (uint64, error) {
	shards, err := s.inspect(ctx, func(t *table, shard int, out *uint64) error {
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

// Verify checks every invariant of every shard and returns an error for the first
// violation, by table and typeId, or nil. It shares the gate with Read and joins a Read
// or a Frame.
func (s *Store) Verify(ctx context.Context) error {
	_, err := s.inspect(ctx, func(t *table, shard int, _ *uint64) error { return t.verify(shard) })
	return err
}

// inspect calls f for every shard, in parallel, and returns the results in the order of
// tables and shards.
func (s *Store) inspect(ctx context.Context, f func(t *table, shard int, out *uint64) error) ([]uint64, error) {
	p, err := s.enter(ctx, opInspect)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	defer p.trace("").end()
	var work []shardWork
	for _, t := range s.tables {
		for i := range t.order {
			work = append(work, t.work(i))
		}
	}
	out := make([]uint64, len(work))
	err = s.runReading(p, len(work), func(i int) error { return f(work[i].table, work[i].index, &out[i]) })
	return out, err
}

// TableDigest is the digest of a table, by shard.
type TableDigest struct {
	Name   string
	TypeID uint16   // typeId of the first shard
	Shards []uint64 // by typeId
}

// DigestTables returns the hash of each shard of each table, in the order of
// registration, to find the difference between two stores. It hashes on the caller's
// goroutine and does not use the gate. It may be called inside a phase that changes
// nothing, and between phases by the goroutine that flushes, also from
// Options.AfterFlush.
func (s *Store) DigestTables() []TableDigest {
	digests := make([]TableDigest, len(s.tables))
	for i, t := range s.tables {
		if check.Cheap {
			t.lookup("DigestTables")
		}
		first, shards := t.first, len(t.order)
		digests[i] = TableDigest{Name: t.name, TypeID: first, Shards: make([]uint64, shards)}
		for shard := range shards {
			digests[i].Shards[shard] = t.digest(shard)
		}
	}
	return digests
}

// DumpTable iterates over the handles and items of the named table, by shard and row, and
// skips the first n. Items of type T are passed as *T and must not be changed. An unknown
// name yields nothing. It reaches the first item in O(shards) time, in a stable table in
// O(slots/64), and costs an indirect call per item. No structure may change meanwhile;
// callers are as for DigestTables.
//
// It is for tools without the item types; programs use [Table.All].
func (s *Store) DumpTable(name string, n int) iter.Seq2[ID, any] {
	return func(yield func(ID, any) bool) {
		t := s.names[name]
		if t == nil {
			return
		}
		if check.Cheap {
			t.lookup("DumpTable")
		}
		left := max(n, 0)
		for shard, sh := range t.order {
			if items := sh.Map.Len(); left >= items {
				left -= items
			} else if !t.dump(shard, left, yield) {
				return
			} else {
				left = 0
			}
		}
	}
}

// DumpColumns iterates over the names and elements of the columns and sparse data of the
// item id, in the order of their addition. An element is passed as *C and must not be
// changed. Sparse data that the item lacks is skipped; without such an item it yields
// nothing. Callers are as for DumpTable.
func (s *Store) DumpColumns(id ID) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		t := s.owner(id)
		if t == nil {
			return
		}
		if check.Cheap {
			t.lookup("DumpColumns")
		}
		for _, p := range t.components {
			if check.Cheap {
				p.lookup("DumpColumns")
			}
			if element := p.element(id); element != nil && !yield(p.name, p.typ.Any(element)) {
				return
			}
		}
	}
}
