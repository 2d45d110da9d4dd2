package store

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/highwater"
)

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
		panic(fmt.Sprintf("store: %s of Groups of table %q by table %q, changed since by a flush, Rollback or Writer; call GroupBy again",
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
