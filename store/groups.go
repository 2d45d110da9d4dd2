package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/highwater"
	"handloom/internal/paged"
)

// Groups are the items of one table, grouped by the item of another that owns them;
// [GroupBy] fills them. The zero Groups are empty and ready for GroupBy. They keep their
// memory for the next GroupBy, and must not be copied.
//
// They are valid until a flush has commands for one of the two tables, or a Rollback or
// [Writer] changes one. Of and ForEach panic from then on.
//
// See guide/events.md and guide/parents-and-children.md.
type Groups[T, K any] struct {
	_     noCopy
	core  grouping
	visit func(c GroupChunk[T, K])
	task  func(int) error // run, bound once
}

// GroupBy groups the items of t into g by owner, the item of by whose handle key returns:
// children by parent, shots by target. [Groups.Stale] counts keys that name no item of by
// (null and stale handles, handles of other tables). t and by may be one table.
//
//	var hits store.Groups[Hit, Ship] // kept from tick to tick
//	err := store.GroupBy(ctx, &hits, shots, ships, func(h *Hit) store.Handle[Ship] { return h.Target })
//	err = hits.ForEach(ctx, func(c store.GroupChunk[Hit, Ship]) {
//		for i := range c.Owners.Items {
//			m := c.Members(i)
//			for k := range m.Len() {
//				c.Owners.Items[i].Hull -= m.At(k).Damage
//			}
//		}
//	})
//
// It takes O(t.Len() + by.Len()) time, in parallel, and allocates nothing in steady use
// (op=groupby). For one pass over events that records nothing [Fold] is faster. GroupBy
// pays if owners record commands, or members are visited repeatedly.
//
// key may only look at the item; several goroutines call it at once. GroupBy fails with
// the [*PanicError] of the lowest block of rows when key panics, and with the cause of
// ctx when that ends before the end; g is then unusable until another GroupBy. GroupBy
// holds the store alone, or joins the Frame or system of its context, as a ForEach does;
// the system names both tables in Reads.
//
// Both tables may be stable, but [Groups.ForEach] needs owners in a [Table]. Tables of
// different stores panic.
func GroupBy[T, K any](ctx context.Context, g *Groups[T, K], t TableOf[T], by TableOf[K], key func(*T) Handle[K]) error {
	check.Given(g != nil, "store: GroupBy", "Groups")
	members, owners := tableOf("GroupBy", t), tableOf("GroupBy", by)
	check.Given(key != nil, "store: GroupBy", "key function")
	if g.task == nil {
		g.task = g.run
	}
	p, err := g.core.enter(ctx, members, owners)
	if err != nil {
		return err
	}
	defer g.core.leave()
	return g.core.group(p, untypedKey(key))
}

// Len returns the number of items with an owner; Stale counts the others.
func (g *Groups[T, K]) Len() int { return g.core.len() }

// Stale returns the number of items whose key names no item of the other table, null keys
// included.
func (g *Groups[T, K]) Stale() int { return g.core.stale }

// Of returns the items with owner h; none if h names no item. It takes O(1) time. Callers
// are as for [Table.Get].
func (g *Groups[T, K]) Of(h Handle[K]) Members[T] {
	return Members[T]{refs: g.core.refs(h.ID), maps: g.core.maps()}
}

// ForEach runs f for every chunk of owners, in parallel: it is a [Table.ForEach] over the
// owners in which each task also finds their members. A system that calls it names the
// table of the owners in Writes and the table of the members in Reads.
//
// Members are read-only. If both tables are one, members belong to other tasks: read only
// data that no task writes. Owners in a [StableTable] are an error; use
// [StableTable.ForEach] with [Groups.Of].
func (g *Groups[T, K]) ForEach(ctx context.Context, f func(c GroupChunk[T, K])) error {
	check.Given(f != nil, "store: ForEach", "function")
	p, err := g.core.enterForEach(ctx)
	if err != nil {
		return err
	}
	defer func() { g.visit = nil; p.leave() }()
	g.core.good("ForEach")
	g.visit = f
	return p.record(g.task)
}

func (g *Groups[T, K]) run(index int) error {
	p := &g.core.ownerTable.pass
	owners := p.chunk(index)
	g.visit(GroupChunk[T, K]{
		Owners: *(*Chunk[K])(unsafe.Pointer(&owners)), // see untyped
		ends:   g.core.endsOf(index), refs: g.core.members, maps: g.core.maps(),
	})
	return p.endTask(index)
}

// GroupChunk is a run of owners given to one task, valid until the task returns.
type GroupChunk[T, K any] struct {
	Owners Chunk[K] // as in a ForEach over the owners

	ends []int // end of the members of each owner, preceded by their start
	refs []uint64
	maps *lookups
}

// Members returns the items of Owners.Items[i].
func (c *GroupChunk[T, K]) Members(i int) Members[T] {
	if check.Cheap && c.Owners.serial != c.Owners.pass.serial {
		panic(wrongChunk{"Members", c.Owners.Index, c.Owners.pass})
	}
	return Members[T]{refs: c.refs[c.ends[i]:c.ends[i+1]], maps: c.maps}
}

// Members are the items of one owner, read-only, in the order of shards and rows. They
// are valid as long as their [Groups].
type Members[T any] struct {
	refs []uint64
	maps *lookups
}

// Len returns the number of members.
func (m Members[T]) Len() int { return len(m.refs) }

// At returns a pointer to member k, in O(1) time. It fits the inliner's budget exactly.
func (m Members[T]) At(k int) *T {
	ref := m.refs[k]
	tag := ref >> 32 & (MaxShards - 1)
	if m.maps.packed == nil {
		return paged.At[T](m.maps.stable[tag], ID(ref))
	}
	return &(*(*[]T)(dense.Array[dense.Inline](m.maps.packed[tag])))[uint32(ref)]
}

// All iterates over the handles and addresses of the members. Without need of handles, a
// loop over [Members.At] is faster.
func (m Members[T]) All() iter.Seq2[Handle[T], *T] {
	return func(yield func(Handle[T], *T) bool) {
		for k, ref := range m.refs {
			if !yield(Handle[T]{ID: m.maps.idOf(ref)}, m.At(k)) {
				return
			}
		}
	}
}

// grouping is the untyped part of [Groups]: the rows of one table sorted by the rows of
// another that own them, by counting, in two parallel steps.
//
//	scatter   a block of rows: finds the owner of each row, and sorts the block by
//	          bucket of owners
//	gather    a bucket of owners: counts their rows in all blocks, and moves each
//	          row to its place
//
//	pairs     | a  b  c  - | a  b  c  - | a b c - |    blocks; -: without an owner
//	members   | a       | b       | c       |          buckets, each sorted by owner
//
// Both steps keep the order of rows, so the members of an owner are in (shard, row)
// order. One task writes each element, into memory small enough for a cache. Blocks and
// buckets depend only on the two tables; the result does not depend on them.
type grouping struct {
	table, ownerTable *table
	versions          [2]uint64 // versions of the two tables when grouped
	state             groupState
	stale             int
	vacant            int // number of rows without an item

	key     func(*untyped) Handle[untyped] // key function of the running GroupBy
	members []uint64                       // references to rows, by owner
	ends    []int                          // by owner: end of its members; preceded by one 0

	owners  int
	bases   [MaxShards]int // by typeId & 63: number of owners in earlier shards
	shift   int            // a bucket has 1<<shift owners
	buckets int
	blocks  []block
	counts  []uint32 // by block: 0, then the end of each bucket; rows without an owner are last
	starts  []int    // by bucket: start of its members
	pairs   []uint64 // by block and bucket: references, with the owner within the bucket in the upper bits
	cost    []int64  // by task of a step, in nanoseconds

	ofMembers, ofPairs, ofEnds, ofCounts highwater.Mark

	phase             phase           // phase of the running GroupBy; no user function gets it
	onBlock, onBucket func(int) error // bound once
}

// groupState is the validity of a grouping.
type groupState int

const (
	notGrouped groupState = iota
	groupingFailed
	grouped
)

const (
	refBits     = 38 // bits of a reference: typeId & 63 and row
	blockRows   = 8 << 10
	maxBlocks   = 512 // in addition to one per shard
	bucketShift = 10
	maxBuckets  = 512
	stripRows   = 512 // rows whose keys are read together
	scatterCost = 5   // estimated nanoseconds per row
	gatherCost  = 4   // estimated nanoseconds per row
)

// enter begins the phase of a GroupBy. On success [grouping.group] must follow.
func (g *grouping) enter(ctx context.Context, t, owners *table) (*phase, error) {
	if t.store != owners.store {
		panic(fmt.Sprintf("store: GroupBy of table %q by table %q of another store; use tables of one store", t.name, owners.name))
	}
	p := &g.phase
	if err := p.enter(ctx, t.store, opGroupBy); err != nil {
		return nil, err
	}
	if check.Cheap {
		if err := errors.Join(p.mayRead(t), p.mayRead(owners)); err != nil {
			g.leave()
			return nil, err
		}
	}
	g.table, g.ownerTable, g.state = t, owners, groupingFailed
	return p, nil
}

// leave ends the phase. It can be reused, because no user function has its context.
func (g *grouping) leave() {
	g.phase.leave()
	g.phase = phase{}
}

func (g *grouping) group(p *phase, key func(*untyped) Handle[untyped]) error {
	g.key = key
	defer func() { g.key = nil }()
	defer p.trace(g.table.name).end()
	if check.Full {
		defer g.table.store.watch(p)()
	}
	g.cut()
	if err := g.sort(p); err != nil {
		g.members, g.stale, g.vacant = g.members[:0], 0, 0
		return fmt.Errorf("store: GroupBy of table %q by table %q: %w", g.table.name, g.ownerTable.name, err)
	}
	g.versions, g.state = g.now(), grouped
	return nil
}

// now returns the current versions of both tables.
func (g *grouping) now() [2]uint64 { return [2]uint64{g.table.version, g.ownerTable.version} }

// good panics if the groups are not valid.
func (g *grouping) good(method string) {
	switch {
	case g.state == notGrouped:
		panic(fmt.Sprintf("store: %s of Groups that no GroupBy has filled; call GroupBy first", method))
	case g.state == groupingFailed:
		panic(fmt.Sprintf("store: %s of Groups whose last GroupBy failed; look at its error", method))
	case g.versions != g.now():
		panic(fmt.Sprintf("store: %s of Groups of table %q by table %q, changed since by a flush, sort, Rollback or Writer; call GroupBy again",
			method, g.table.name, g.ownerTable.name))
	}
}

// enterForEach begins a ForEach over the owners.
func (g *grouping) enterForEach(ctx context.Context) (*pass, error) {
	if g.state == notGrouped {
		g.good("ForEach") // panics
	}
	if g.ownerTable.lookups.packed == nil {
		return nil, fmt.Errorf("store: ForEach of Groups by stable table %q: use owners in a Table, or call Of in a ForEach over the table", g.ownerTable.name)
	}
	return domain{table: g.ownerTable}.enterPass(ctx, opForEach, g.table)
}

// endsOf returns the ends of the owners in a chunk, preceded by their start.
func (g *grouping) endsOf(chunk int) []int {
	shard, lo, hi := g.ownerTable.pass.find(chunk)
	base := g.bases[(int(g.ownerTable.first)+shard)%MaxShards]
	return g.ends[base+lo : base+hi+1]
}

// refs returns the members of the owner id.
func (g *grouping) refs(id ID) []uint64 {
	g.good("Of")
	if check.Cheap {
		g.ownerTable.lookup("Of")
		g.table.lookup("Of")
	}
	tag := id >> 48 & (MaxShards - 1)
	row, ok := g.ownerTable.lookups.rowOf(id)
	if !ok {
		return nil
	}
	owner := g.bases[tag] + row
	return g.members[g.ends[owner]:g.ends[owner+1]]
}

func (g *grouping) len() int { return len(g.members) - g.stale - g.vacant }

func (g *grouping) maps() *lookups { return &g.table.lookups }

// cut divides the rows into blocks and the owners into buckets, and obtains the memory.
func (g *grouping) cut() {
	g.owners = 0
	for i, sh := range g.ownerTable.order {
		g.bases[(int(g.ownerTable.first)+i)%MaxShards] = g.owners
		g.owners += sh.Map.Rows()
	}
	g.shift = max(bucketShift, min(64-refBits, bits.Len(uint(max(g.owners-1, 0)/maxBuckets))))
	g.buckets = (g.owners + 1<<g.shift - 1) >> g.shift

	n := 0
	g.blocks, n = g.table.blocks(g.blocks[:0], max(blockRows, g.table.len()/maxBlocks))
	g.vacant = n - g.table.len()
	g.members = highwater.Room(&g.ofMembers, g.members, n)
	g.pairs = highwater.Room(&g.ofPairs, g.pairs, n)
	g.ends = highwater.Room(&g.ofEnds, g.ends, g.owners+1)
	g.counts = highwater.Room(&g.ofCounts, g.counts, len(g.blocks)*(g.buckets+2))
}

func (g *grouping) sort(ctx context.Context) error {
	if g.onBlock == nil {
		g.onBlock, g.onBucket = g.scatter, g.gather
	}
	s := g.table.store
	g.cost = g.cost[:0]
	for _, b := range g.blocks {
		g.cost = append(g.cost, int64(b.hi-b.lo)*scatterCost)
	}
	if err := s.run(ctx, len(g.blocks), g.onBlock, g.cost); err != nil {
		return err
	}
	g.starts, g.cost = g.starts[:0], g.cost[:0]
	at := 0
	for bucket := range g.buckets {
		g.starts = append(g.starts, at)
		n := g.count(bucket)
		g.cost = append(g.cost, int64(n*gatherCost+1<<g.shift))
		at += n
	}
	g.stale = g.count(g.buckets) - g.vacant
	g.ends[0] = 0
	return s.run(ctx, g.buckets, g.onBucket, g.cost)
}

func (g *grouping) count(bucket int) (n int) {
	for ; bucket < len(g.counts); bucket += g.buckets + 2 {
		n += int(g.counts[bucket+1] - g.counts[bucket])
	}
	return n
}

// scatter is the first step for one block.
func (g *grouping) scatter(task int) error {
	b := &g.blocks[task]
	owners, pairs := g.members[b.at:b.at+b.hi-b.lo], g.pairs[b.at:b.at+b.hi-b.lo] // members are filled later
	counts := g.counts[task*(g.buckets+2):][:g.buckets+2]
	clear(counts)
	next := counts[1:]
	for lo := b.lo; lo < b.hi; lo += stripRows {
		hi := min(lo+stripRows, b.hi)
		strip := owners[lo-b.lo : hi-b.lo]
		g.read(b.shard, lo, hi, strip)
		g.find(strip, next)
	}
	toStarts(next, 0)
	ref := uint64(int(g.table.first)+b.shard)%MaxShards<<32 | uint64(b.lo)
	shift, mask := g.shift&63, uint64(1)<<g.shift-1
	for _, owner := range owners {
		at := &next[owner>>shift]
		pairs[*at] = (owner&mask)<<refBits | ref
		*at++
		ref++
	}
	return nil
}

// read reads the keys of rows; a row without an item has the null handle.
func (g *grouping) read(shard, lo, hi int, into []uint64) {
	key, items := g.key, g.table.rowItems(shard)
	if items.stable == nil {
		for i := range into[:hi-lo] {
			v := unsafe.Add(items.first, uintptr(lo+i)*items.size)
			into[i] = uint64(key((*untyped)(v)).ID)
		}
		return
	}
	for row := lo; row < hi; row++ {
		id := ID(0)
		if v := items.at(row); v != nil {
			id = key(v).ID
		}
		into[row-lo] = uint64(id)
	}
}

// find replaces each key by the number of its owner, and counts the owners by bucket.
func (g *grouping) find(keys []uint64, counts []uint32) {
	maps, shift := g.ownerTable.lookups.packed, g.shift&63
	none := uint64(g.buckets) << shift
	if maps == nil {
		g.findStable(keys, counts)
		return
	}
	for i, key := range keys { // op=groupby; a branch for stable tables here is slow
		owner, tag := none, key>>48&(MaxShards-1)
		if row, ok := maps[tag].RowOf(ID(key)); ok {
			owner = uint64(g.bases[tag] + row)
		}
		keys[i] = owner
		counts[owner>>shift]++
	}
}

// findStable is find for owners in a stable table.
func (g *grouping) findStable(keys []uint64, counts []uint32) {
	maps, shift := g.ownerTable.lookups.stable, g.shift&63
	none := uint64(g.buckets) << shift
	for i, key := range keys {
		owner, tag := none, key>>48&(MaxShards-1)
		if row, ok := maps[tag].RowOf(ID(key)); ok {
			owner = uint64(g.bases[tag] + row)
		}
		keys[i] = owner
		counts[owner>>shift]++
	}
}

// gather is the second step for one bucket.
func (g *grouping) gather(bucket int) error {
	first := bucket << g.shift
	ends := g.ends[first+1 : min(first+1<<g.shift, g.owners)+1]
	clear(ends)
	for i := range g.blocks {
		for _, pair := range g.segment(i, bucket) {
			ends[pair>>refBits]++
		}
	}
	toStarts(ends, g.starts[bucket])
	members := g.members
	for i := range g.blocks {
		for _, pair := range g.segment(i, bucket) {
			end := &ends[pair>>refBits]
			members[*end] = pair & (1<<refBits - 1)
			*end++
		}
	}
	return nil
}

// segment returns the pairs of a block for a bucket.
func (g *grouping) segment(block, bucket int) []uint64 {
	at, counts := g.blocks[block].at, g.counts[block*(g.buckets+2)+bucket:]
	return g.pairs[at+int(counts[0]) : at+int(counts[1])]
}
