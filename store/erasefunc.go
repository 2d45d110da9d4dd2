package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/paged"
)

// EraseFunc records the erases of all items of t for which dead returns true, in
// parallel. The next flush applies them.
//
//	err := store.EraseFunc(ctx, shots, func(s *Shot) bool { return s.Left <= 0 })
//
// It takes O(rows) time. dead must only read; several goroutines call it at once. When it
// panics, EraseFunc returns the [*PanicError] of the lowest chunk, and records nothing.
// EraseFunc is a phase like [Table.ForEach]. A system that calls it names t in Reads and
// Emits.
func EraseFunc[T any](ctx context.Context, t TableOf[T], dead func(v *T) bool) error {
	core := tableOf("EraseFunc", t)
	check.Given(dead != nil, "store: EraseFunc", "function")
	return domain{table: core}.forEach(ctx, opEraseFunc, *(*func(untyped))(unsafe.Pointer(&dead))) // see untyped
}

// eraseChunk records the erases of a chunk's items for which dead returns true. [pass.endTask]
// must follow.
func (p *pass) eraseChunk(chunk int, dead func(*untyped) bool) {
	shard, lo, hi := p.find(chunk)
	items, q := p.table.rowItems(shard), p.queues.Queue(chunk)
	for row := lo; row < hi; row++ {
		if v := items.at(row); v != nil && dead(v) {
			p.table.eraseRow(q, shard, row)
		}
	}
}

// eraseRow records the erase of a row. [pass.endTask] must follow.
func (t *table) eraseRow(q batch.Queue, shard, row int) {
	if t.lookups.packed == nil {
		t.recorder.Erase(q, t.order[shard].Map.IDAt(row))
		return
	}
	rows := q.Rows()
	*rows = append(*rows, uint32(row))
}

// rowItems are the untyped items of a shard by row.
type rowItems struct {
	stable *paged.Set // nil: a packed table
	first  unsafe.Pointer
	size   uintptr
}

func (t *table) rowItems(shard int) rowItems {
	if t.lookups.packed == nil {
		return rowItems{stable: t.pages(shard)}
	}
	m := t.packed(shard)
	all := m.Range(0, m.Len())
	return rowItems{first: all.Data(), size: t.typ.Size}
}

// at returns the item at a row, or nil for an empty row.
func (r *rowItems) at(row int) *untyped {
	if r.stable != nil {
		return (*untyped)(r.stable.At(row))
	}
	return (*untyped)(unsafe.Add(r.first, uintptr(row)*r.size))
}

// EraseOrphans records the erases of all items of t whose key names an erased item of the
// other table. If both are one table, it also records the erases of all items below them,
// at any depth. Items with null keys, and items whose keys form a cycle, stay.
//
//	_, err := s.Flush(ctx) // erases parents
//	err = store.EraseOrphans(ctx, parts, parts, func(p *Part) store.Handle[Part] { return p.Parent })
//	_, err = s.Flush(ctx) // erases their descendants; inside a Frame all is one frame
//
// It runs in parallel and records the same erases for any number of workers. Between two
// tables it takes O(rows) time. In one table it takes O(rows * log(depth)) time and 16
// bytes per row, kept for the next call, and O(rows) time when no parent is gone.
//
// key must only read the item; several goroutines call it at once. When it panics,
// EraseOrphans returns the [*PanicError] of the lowest chunk, and records nothing. Tables
// of different stores panic. EraseOrphans is a phase like [Table.ForEach]. A system that
// calls it names both tables in Reads, and t in Emits; the schedule then flushes the
// erases of parents before it.
func EraseOrphans[T, K any](ctx context.Context, t TableOf[T], by TableOf[K], key func(v *T) Handle[K]) error {
	children, parents := tableOf("EraseOrphans", t), tableOf("EraseOrphans", by)
	check.Given(key != nil, "store: EraseOrphans", "key function")
	return children.eraseOrphans(ctx, parents, untypedKey(key))
}

func (t *table) eraseOrphans(ctx context.Context, parents *table, key func(*untyped) Handle[untyped]) error {
	if t.store != parents.store {
		panic(fmt.Sprintf("store: EraseOrphans of table %q by table %q of another store; use tables of one store", t.name, parents.name))
	}
	p, err := domain{table: t}.enterPass(ctx, opOrphans, parents)
	if err != nil {
		return err
	}
	defer p.leave()
	if t != parents {
		isOrphan := func(v *untyped) bool {
			id := key(v).ID
			_, lives := parents.lookups.rowOf(id)
			return id != 0 && !lives
		}
		return p.record(func(chunk int) error {
			p.eraseChunk(chunk, isOrphan)
			return p.endTask(chunk)
		})
	}
	l := lineages.Get().(*lineage)
	defer l.release()
	l.pass, l.key = p, key
	if err := l.find(); err != nil {
		return fmt.Errorf("store: EraseOrphans of table %q: %w", t.name, err)
	}
	return p.record(l.erase)
}

// lineage searches one table for items with an erased ancestor. Every row has a link: at
// first to its parent, and in each round to the end of the link of that row, so that
// links double in length until they end.
//
//	links     a <- b <- c <- d     a: gone
//	round 1   gone  a    b    c    of each row: its parent
//	round 2   gone gone  a    b    twice as far
//	round 3   gone gone gone  a    four times
//
// A round reads the links of the previous round and writes others, so the result does not
// depend on the order of tasks.
type lineage struct {
	pass     *pass
	key      func(*untyped) Handle[untyped]
	bases    [MaxShards]int // by typeId & 63: number of rows in earlier shards
	up, next []int          // by row: another row, or an end
	counts   []lineCount    // by chunk

	look, double, erase func(int) error // lookUp, doubleLinks and eraseGone, bound once
}

// The ends of links.
const (
	endsWell = -1 // at an item without a parent, or at an empty row
	endsGone = -2 // at an erased parent
)

// lineCount counts the links of a chunk that end at an erased parent, and those without
// an end.
type lineCount struct{ gone, open int }

// lineages keeps the memory of searches.
var lineages = sync.Pool{New: func() any {
	l := new(lineage)
	l.look, l.double, l.erase = l.lookUp, l.doubleLinks, l.eraseGone
	return l
}}

func (l *lineage) release() {
	l.pass, l.key = nil, nil
	lineages.Put(l)
}

// find computes the ends of all links. Links without an end lead into a cycle.
func (l *lineage) find() (err error) {
	failed := true
	defer func() {
		if failed {
			err = cmp.Or(err, l.pass.queues.End(true))
		}
	}()
	t, rows := l.pass.table, 0
	if check.Full {
		defer t.store.watch(l.pass.phase)()
	}
	for i, sh := range t.order {
		l.bases[(int(t.first)+i)%MaxShards] = rows
		rows += sh.Map.Rows()
	}
	l.up, l.next = resized(l.up, rows), resized(l.next, rows)
	l.counts = resized(l.counts, l.pass.n)
	if err := t.store.run(l.pass.phase, l.pass.n, l.look, nil); err != nil {
		return err
	}
	for gone, open := l.count(); gone > 0 && open > 0; {
		if err := t.store.run(l.pass.phase, l.pass.n, l.double, nil); err != nil {
			return err
		}
		l.up, l.next = l.next, l.up
		before := open
		if gone, open = l.count(); open == before {
			break // only cycles remain
		}
	}
	failed = false
	return nil
}

// resized returns s with n elements of any value.
func resized[E any](s []E, n int) []E { return slices.Grow(s[:0], n)[:n] }

func (l *lineage) count() (gone, open int) {
	for _, c := range l.counts {
		gone, open = gone+c.gone, open+c.open
	}
	return gone, open
}

// lookUp is the first step for one chunk: it links rows to their parents.
func (l *lineage) lookUp(chunk int) error {
	t := l.pass.table
	shard, lo, hi := l.pass.find(chunk)
	items, base := t.rowItems(shard), l.bases[(int(t.first)+shard)%MaxShards]
	count := lineCount{}
	for row := lo; row < hi; row++ {
		id := ID(0)
		if v := items.at(row); v != nil {
			id = l.key(v).ID
		}
		end := endsWell
		if parent, ok := t.lookups.rowOf(id); ok {
			end = l.bases[id>>48&(MaxShards-1)] + parent
			count.open++
		} else if id != 0 {
			end = endsGone
			count.gone++
		}
		l.up[base+row] = end
	}
	l.counts[chunk] = count
	return nil
}

// doubleLinks is a round for one chunk.
func (l *lineage) doubleLinks(chunk int) error {
	shard, lo, hi := l.pass.find(chunk)
	base := l.bases[(int(l.pass.table.first)+shard)%MaxShards]
	count := lineCount{}
	next := l.next[base+lo : base+hi]
	for i, end := range l.up[base+lo : base+hi] {
		if end >= 0 {
			end = l.up[end]
		}
		if next[i] = end; end >= 0 {
			count.open++
		} else if end == endsGone {
			count.gone++
		}
	}
	l.counts[chunk] = count
	return nil
}

func (l *lineage) eraseGone(chunk int) error {
	if l.counts[chunk].gone == 0 {
		return nil
	}
	t, q := l.pass.table, l.pass.queues.Queue(chunk)
	shard, lo, hi := l.pass.find(chunk)
	base := l.bases[(int(t.first)+shard)%MaxShards]
	for row := lo; row < hi; row++ {
		if l.up[base+row] == endsGone {
			t.eraseRow(q, shard, row)
		}
	}
	return l.pass.endTask(chunk)
}
