package store

import (
	"context"
	"iter"

	"handloom/internal/check"
	"handloom/internal/digest"
)

// Digest returns a 64-bit hash of the whole state: slots, generations, freelist
// order, depletion, MinFree, row order and item values of every table; not
// capacity, epoch or pending batch. It shares the gate with Read and joins a Read
// or a Write.
//
// Stores with equal digests answer every future sequence of calls equally, but for
// a chance of one in 2^64, as far as digests see. The digest does not include the
// change lists of the last frame ([Created], [Erased], [Written]) or the
// names of its creates. A Rollback empties these lists, and [Table.Resolve] of these
// names reports false, but the digest is the same.
//
// Digests see what fields hold, in nested structs, arrays, strings, slices, maps and
// interfaces too. They do not see what lies behind pointers, functions and channels,
// nor fields named _: two items that differ in those alone are equal to them. Nor do
// they see options other than MinFree (MaxItems and ChunkItems, say), so compare stores
// that were made alike.
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

// Verify checks every invariant of every shard and returns an error that cites
// the first one broken, by table and typeId, or nil. It shares the gate with
// Read and joins a Read or a Write.
func (s *Store) Verify(ctx context.Context) error {
	_, err := s.inspect(ctx, func(t *table, shard int, _ *uint64) error { return t.verify(shard) })
	return err
}

// inspect calls f for every shard of every table, in parallel, and returns what
// it wrote in the order of tables and shards.
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

// TableDigest is the digest of a table, shard by shard.
type TableDigest struct {
	Name   string
	TypeID uint16   // of the first shard
	Shards []uint64 // by typeId
}

// DigestTables returns the hash of each shard of each table, in the order of
// registration, so that two stores whose [Store.Digest] differs can be told where
// they do. It hashes on the caller's goroutine and asks no gate: like a lookup it
// may be called inside a phase that changes nothing, and between phases by the
// goroutine that flushes, also from Options.AfterFlush.
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

// DumpTable iterates over the handles and items of the table with that name, shard by
// shard and in the order in which each shard holds them, without the first n. An item of
// type T is given as a *T that must not be written to. A name that no table has yields
// nothing. It reaches the first item in O(shards) time, in a stable table in O(slots/64),
// and costs an indirect call per item. Nothing structural may change meanwhile; who may
// call DumpTable is as for DigestTables.
//
// It serves tools that look at stores of any kind; a program that knows its types uses
// [Table.All].
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

// DumpColumns iterates over the columns and the optional data of the table that id is of,
// in the order in which they were added: names, and the elements of the item that id
// names, each as a *C that must not be written to. What the item has not is left out, and
// if there is no such item it yields nothing. Who may call it is as for DumpTable.
func (s *Store) DumpColumns(id ID) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		t := s.owner(id)
		if t == nil {
			return
		}
		if check.Cheap {
			t.lookup("DumpColumns")
		}
		for _, p := range t.parts {
			if check.Cheap {
				p.lookup("DumpColumns")
			}
			if element := p.element(id); element != nil && !yield(p.name, p.typ.Any(element)) {
				return
			}
		}
	}
}
