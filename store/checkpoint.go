package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"unsafe"

	"handloom/internal/image"
	"handloom/internal/items"
	"handloom/shard"
)

// ErrCheckpoint means that a table cannot be copied, or that a [Checkpoint] is empty or
// does not fit the store. The message names the reason.
var ErrCheckpoint = errors.New("no usable checkpoint")

// Checkpoint is a copy of the state of a store, made by [Store.Checkpoint]. The zero
// Checkpoint is empty and ready to use. It can be reused for one store, and keeps the
// memory of the largest state; several of them used in rotation are a history. It must
// not be copied (go vet reports it). A second call that uses it meanwhile, also WriteTo,
// fails with [ErrCheckpoint].
//
// See guide/netcode.md.
type Checkpoint struct {
	_    noCopy
	busy atomic.Bool // a call uses it

	saved
}

// saved is the content of a checkpoint.
type saved struct {
	store  *Store
	whole  bool // a state was copied completely
	epoch  uint64
	calls  []uint64      // numbers of flushes that applied calls of Submit whose frame had not ended
	known  bool          // calls is complete: the state was copied in this process
	tables []*savedTable // by ordinal
	tag    image.Tag     // written by WriteTo, set by ReadCheckpoint

	copyRun
}

// noCopy makes go vet report copies: it looks like a lock.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// copyRun is scratch memory of copying. It holds no values between calls.
type copyRun struct {
	work   []copyWork
	cost   []int64 // by work, in nanoseconds
	step   func(t *savedTable, shard int)
	task   func(i int) error // bound once, to allocate nothing
	shield uncancelled
}

type copyWork struct {
	table *savedTable
	shard int
}

// Checkpoint copies the whole state to into, for [Store.Rollback]: everything that
// [Store.Digest] covers, and the epoch, but not the pending batch. It replaces the
// previous content of into.
//
// The cost is close to copying the memory of items, handles and slots, all shards in
// parallel. Steady use allocates nothing that grows with them (op=checkpoint). Items with
// slices, maps or pointers need [TableOptions.Clone]; elements of columns and sparse data
// need [ColumnOptions.Clone].
//
// Checkpoint holds the store alone, or joins the Frame of its context. It fails with
// [ErrCheckpoint] when a table lacks Clone, and with the cause of ctx when that has
// ended; nothing was copied. When Clone panics, the error is a [*PanicError], the store
// is unchanged and into is empty.
func (s *Store) Checkpoint(ctx context.Context, into *Checkpoint) error {
	p, err := s.enter(ctx, opCheckpoint)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := into.mayServe(p); err != nil {
		return fmt.Errorf("store: Checkpoint: %w; nothing was copied", err)
	}
	defer into.busy.Store(false)
	return into.save(p)
}

// Rollback restores the state that c holds. Handles that named an item then name it
// again, and the epoch continues from its old value. The same input leads to the same
// digests again. c is unchanged and can be used again.
//
// The pending batch and the inbox are dropped, as by [Store.Discard] (the example
// ArenaServer keeps its input in another store). Provisional handles of earlier flushes
// no longer resolve, and the lists of [Created], [Erased] and [Written] are empty, also
// for the frame that Rollback is in. Drop all handles issued since c was taken: some are
// stale, others will name other items. Items of a [StableTable] are at their addresses of
// that time; other pointers are invalid. Rollback costs the same as [Store.Checkpoint].
//
// Rollback holds the store alone, or joins the Frame of its context. It fails with
// [ErrCheckpoint] when c is empty, belongs to another store or is older than a table,
// column, sparse data or index, and with the cause of ctx when that has ended; nothing has
// changed. Once begun, it completes: when Clone panics, the store takes the items of c
// instead of copies, c is empty, and Rollback returns the [*PanicError] although the
// state is restored. It also returns [ErrDuplicate] although the state is restored if
// keys of an [Index] were changed in place before the checkpoint.
func (s *Store) Rollback(ctx context.Context, c *Checkpoint) (err error) {
	p, err := s.enter(ctx, opRollback)
	if err != nil {
		return err
	}
	defer p.leave()
	if err := c.mayServe(p); err != nil {
		return fmt.Errorf("store: Rollback: %w; nothing has changed", err)
	}
	defer c.busy.Store(false)
	if err := c.covers(s); err != nil {
		return fmt.Errorf("store: Rollback: %w; nothing has changed", err)
	}
	epoch, calls, known := c.epoch, c.calls, c.known
	defer func() { // also when the goroutine is ending
		err = cmp.Or(err, p.rolledBack(epoch, calls, known))
	}()
	return c.restore(p)
}

// rolledBack restores everything except the items. calls are the numbers of the flushes
// whose calls of Submit are in the state, if known. It fails if the state does not fit an
// index, because keys changed in place before the Checkpoint.
func (p *phase) rolledBack(epoch uint64, calls []uint64, known bool) error {
	s := p.store
	if p.outer != nil {
		p.outer.frame.refused = nil
	}
	s.batch.Drop(ErrRolledBack)
	s.receipts.rollBack(calls, known)
	for _, t := range s.tables {
		t.version++
	}
	s.forgetFrame()
	s.flush.frames += 2
	s.epoch.Store(epoch)
	s.publishAll(s.tables)
	if s.probe != nil {
		s.probe.rebase()
	}
	if err := s.reindex(p); err != nil {
		return fmt.Errorf("store: %v: %w; the state is restored, but lookups by key are wrong until the next Rollback", p.op, err)
	}
	return nil
}

// use makes c busy, unless another call uses it.
func (c *Checkpoint) use() error {
	if !c.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%w: another call uses it; use several in rotation", ErrCheckpoint)
	}
	return nil
}

// mayServe makes c busy, or returns the reason why the phase cannot copy to or from c.
func (c *Checkpoint) mayServe(p *phase) error {
	if c == nil {
		return fmt.Errorf("%w: it is nil; give the address of one", ErrCheckpoint)
	}
	if err := c.use(); err != nil {
		return err
	}
	err := c.serves(p)
	if err != nil {
		c.busy.Store(false)
	}
	return err
}

func (c *Checkpoint) serves(p *phase) error {
	switch {
	case c.store != nil && c.store != p.store:
		return fmt.Errorf("%w: it belongs to another store; use one Checkpoint per store", ErrCheckpoint)
	case p.Err() != nil:
		return context.Cause(p)
	}
	return p.store.copyable()
}

// covers returns an error unless c holds a state of s.
func (c *Checkpoint) covers(s *Store) error {
	switch {
	case !c.whole:
		return fmt.Errorf("%w: it is empty: no Checkpoint into it has succeeded", ErrCheckpoint)
	case len(c.tables) < len(s.tables):
		return fmt.Errorf("%w: it was taken before table %q was registered", ErrCheckpoint, s.tables[len(c.tables)].name)
	}
	for _, t := range c.tables {
		if all := t.table.components; len(t.components) < len(all) {
			missing := all[len(t.components)]
			return fmt.Errorf("%w: it was taken before %s %q was added to table %q", ErrCheckpoint, missing.what, missing.name, t.table.name)
		}
		if all := t.table.indexes; len(t.indexes) < len(all) { // two of its items may have one key
			return fmt.Errorf("%w: it was taken before index %q was added to table %q", ErrCheckpoint, all[len(t.indexes)].title(), t.table.name)
		}
	}
	return nil
}

// copyable returns an error that names every table whose items cannot be copied.
func (s *Store) copyable() error {
	var errs []error
	for _, t := range s.tables {
		errs = append(errs, t.copying.faults...)
	}
	return errors.Join(errs...)
}

func (c *Checkpoint) save(p *phase) error {
	s := p.store
	for _, t := range s.tables[len(c.tables):] {
		c.tables = append(c.tables, t.newCopy())
	}
	for _, t := range c.tables {
		t.renew()
	}
	c.store, c.epoch, c.whole = s, s.Epoch(), false
	c.calls, c.known = s.receipts.inState(c.calls[:0]), true
	if err := c.each(p, (*savedTable).save); err != nil {
		return fmt.Errorf("store: Checkpoint: %w; the checkpoint is empty", err)
	}
	c.whole = true
	return nil
}

func (c *Checkpoint) restore(p *phase) error {
	restored := false
	defer func() {
		if !restored { // also when the goroutine is ending
			for _, t := range c.tables {
				t.giveUp()
			}
			c.saved = saved{}
		}
	}()
	if err := c.each(p, (*savedTable).restore); err != nil {
		return fmt.Errorf("store: Rollback: %w; the store took the items of the checkpoint, which is now empty", err)
	}
	restored = true
	return nil
}

// each runs step for every shard, in parallel, and completes even if ctx ends.
func (c *Checkpoint) each(p *phase, step func(t *savedTable, shard int)) error {
	c.work, c.cost = c.work[:0], c.cost[:0]
	for i, t := range c.tables {
		shards := len(p.store.tables[i].order)
		for shard := range shards {
			c.work = append(c.work, copyWork{t, shard})
			c.cost = append(c.cost, t.cost(shard))
		}
	}
	if c.task == nil {
		c.task = func(i int) error {
			c.step(c.work[i].table, c.work[i].shard)
			return nil
		}
	}
	c.step, c.shield.Context = step, p
	defer func() { c.step, c.shield.Context = nil, nil }()
	return p.store.run(&c.shield, len(c.work), c.task, c.cost)
}

// Bytes returns the memory of c: the containers of the copy, capacity included, without memory
// that Clone allocates. It takes O(shards) time.
func (c *Checkpoint) Bytes() int64 {
	n := int64(cap(c.work))*int64(unsafe.Sizeof(copyWork{})) + int64(cap(c.cost))*8
	for _, t := range c.tables {
		n += int64(unsafe.Sizeof(*t))
		for _, s := range t.shards {
			if n += shardBytes; s.Map != nil {
				n += s.Stats().Bytes
			}
		}
	}
	return n
}

// shardBytes is about the size of a copied shard without rows and slots.
const shardBytes = 512

// copying describes how items, columns and sparse data of a table are copied.
type copying struct {
	clones shard.CloneFuncs
	afresh shard.CloneFuncs // clones that write to a zero *dst
	cloned int
	faults []error // fields that assignment would share, without a Clone
}

func (c *copying) init(name string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	c.clones.Items, c.afresh.Items = clone, afresh(typ, clone)
	c.add(fmt.Sprintf("table %q", name), "TableOptions.Clone", typ, clone)
}

func (c *copying) addColumn(table, name string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	c.clones.Columns = append(c.clones.Columns, clone)
	c.afresh.Columns = append(c.afresh.Columns, afresh(typ, clone))
	c.add(fmt.Sprintf("column %q of table %q", name, table), "ColumnOptions.Clone", typ, clone)
}

func (c *copying) addSparse(table, name string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	c.clones.Data = append(c.clones.Data, clone)
	c.afresh.Data = append(c.afresh.Data, afresh(typ, clone))
	c.add(fmt.Sprintf("sparse data %q of table %q", name, table), "ColumnOptions.Clone", typ, clone)
}

func (c *copying) add(what, option string, typ *items.Type, clone func(dst, src unsafe.Pointer)) {
	if clone != nil {
		c.cloned++
	} else if shared := sharedField(typ.Reflect); shared != "" {
		c.faults = append(c.faults, fmt.Errorf("%w of %s: copies would share %s; give it %s", ErrCheckpoint, what, shared, option))
	}
}

// afresh returns a function that clones to a zero *dst. The program may share memory with
// a live item, so Clone must not write to it.
func afresh(typ *items.Type, clone func(dst, src unsafe.Pointer)) func(dst, src unsafe.Pointer) {
	if clone == nil {
		return nil
	}
	return func(dst, src unsafe.Pointer) {
		typ.Zero(dst)
		clone(dst, src)
	}
}

type savedTable struct {
	table      *table
	components []*component  // components that are copied; the table may have more
	indexes    []keyIndex    // indexes that the keys of the items fit; the table may have more
	shards     []shard.State // zero: never copied
	begun      []bool        // shards whose restore has begun and not ended
}

func (t *table) newCopy() *savedTable {
	n := len(t.order)
	return &savedTable{
		table: t, components: slices.Clip(t.components), indexes: slices.Clip(t.indexes),
		shards: make([]shard.State, n), begun: make([]bool, n),
	}
}

// renew resets the copy if the table has more components or indexes.
func (c *savedTable) renew() {
	if len(c.components) != len(c.table.components) || len(c.indexes) != len(c.table.indexes) {
		*c = *c.table.newCopy()
	}
}

// forgetFrame empties everything that a program can see of the last frame. Only tables
// with commands in that frame have provisional handles to forget.
func (s *Store) forgetFrame() {
	s.flush.forgetLists()
	for _, t := range s.tables {
		if t.inFrame(s.flush.last) {
			t.recorder.Reset()
		}
		t.written.clear()
		for _, p := range t.components {
			p.written.clear()
		}
	}
}

func (c *savedTable) save(i int) {
	c.shards[i] = shard.Copy(c.table.order[i].State(), c.shards[i], c.table.copying.clones)
}

func (c *savedTable) restore(i int) {
	c.begun[i] = true
	shard.Copy(c.shards[i], c.table.order[i].State(), c.table.copying.afresh)
	c.begun[i] = false
}

// giveUp moves the saved items into shards whose restore failed. The copy is useless
// afterwards.
func (c *savedTable) giveUp() {
	for i, begun := range c.begun {
		if begun {
			shard.Copy(c.shards[i], c.table.order[i].State(), shard.CloneFuncs{})
		}
	}
}

// Estimates in nanoseconds. They only decide whether copying runs inline and which shard
// is first (op=checkpoint).
const (
	bytesCopiedPerNanosecond = 8
	cloneCost                = 20 // one item, by Clone
)

func (c *savedTable) cost(shard int) int64 {
	from := c.table.order[shard].State().Stats()
	if saved := c.shards[shard]; saved.Map != nil {
		if old := saved.Stats(); old.Bytes > from.Bytes {
			from = old
		}
	}
	cost := from.Bytes / bytesCopiedPerNanosecond
	return cost + int64(from.Live*c.table.copying.cloned)*cloneCost
}

// sharedField returns the path and kind of the first field of t through which a copy by
// assignment could change the original, such as "Agent.Path of kind slice", or "".
// Strings are shared but immutable.
func sharedField(t reflect.Type) string { return sharedPart(t, t.String()) }

func sharedPart(t reflect.Type, path string) string {
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if shared := sharedPart(f.Type, path+"."+f.Name); shared != "" {
				return shared
			}
		}
	case reflect.Array:
		if t.Len() > 0 {
			return sharedPart(t.Elem(), path+"[0]")
		}
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return path + " of kind " + t.Kind().String()
	}
	return ""
}
