package store

import (
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"unsafe"

	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// A flush plans keys in two parallel steps. A task per shard, and per block of creates, collects
// the keys that its items give up and want, by part. Then a task per part releases keys and grants
// claims, in the order of tasks. Parts share no key, so together they act as one map, and the lowest of the
// claims that they refuse is the first one.

// indexParts is the number of maps of an index, for as many workers. More tasks than workers even
// out parts of different sizes.
const indexParts = 32

// indexPart has the keys of one part.
type indexPart[K comparable] struct {
	ids    map[K]ID
	before []entry[K] // changes of the flush being planned in order, to undo them
	refuse refusal[K]
	peak   highwater.Mark
	_      [32]byte // neighbours are written by different workers
}

// refusal is the first claim of a part whose key is taken.
type refusal[K comparable] struct {
	found    bool
	task, at int
	key      K
	holder   ID
}

// keyPlan has the keys that one task collects, by part.
type keyPlan[K comparable] struct {
	released [indexParts][]entry[K]
	claimed  [indexParts][]claimedKey[K]
	used     uint32 // parts with keys
	claims   int
	events   int
	most     int // events since its memory was released
	peak     highwater.Mark
}

// claimedKey is the key of an item that the flush creates or puts. The flush sets the handle of a
// created item when it applies the create.
type claimedKey[K comparable] struct {
	key  K
	id   *ID
	at   int32 // number among the claims of the task
	kept bool  // a put with the key that the item has
}

// part returns the part of a key.
func (x *Index[K, T]) part(k K) *indexPart[K] { return &x.parts[x.partOf(k)] }

// partOf hashes by a seed of this process. Nothing outside of the index depends on parts.
func (x *Index[K, T]) partOf(k K) int { return int(maphash.Comparable(x.seed, k) % indexParts) }

// begin prepares n tasks that collect keys.
func (x *Index[K, T]) begin(n int) {
	x.tasks = n
	x.plans = append(x.plans, make([]keyPlan[K], max(0, n-len(x.plans)))...)
}

func (x *Index[K, T]) release(task int, k K, id ID) {
	p, part := &x.plans[task], x.partOf(k)
	p.released[part] = append(p.released[part], entry[K]{k, id})
	p.used |= 1 << part
	p.events++
}

func (x *Index[K, T]) want(task int, k K, id *ID, kept bool) {
	p, part := &x.plans[task], x.partOf(k)
	p.claimed[part] = append(p.claimed[part], claimedKey[K]{k, id, int32(p.claims), kept})
	p.used |= 1 << part
	p.claims++
	p.events++
}

func (x *Index[K, T]) erase(task int, id ID, v unsafe.Pointer) {
	if k, ok := x.keyOf(v); ok {
		x.release(task, k, id)
	}
}

func (x *Index[K, T]) put(task int, id *ID, v, value unsafe.Pointer) {
	old, had := x.keyOf(v)
	k, ok := x.keyOf(value)
	kept := had && ok && k == old
	if had && !kept {
		x.release(task, old, *id)
	}
	if ok {
		x.want(task, k, id, kept)
	}
}

func (x *Index[K, T]) create(task int, values items.Slice, created []ID) {
	all := *items.As[T](&values)
	for i := range all {
		if k, ok := x.keyOf(unsafe.Pointer(&all[i])); ok {
			x.want(task, k, &created[i], false)
		}
	}
}

// settle releases the keys of a part, and then grants claims up to the first one whose key is
// taken.
func (x *Index[K, T]) settle(part int) {
	p := &x.parts[part]
	for task := range x.tasks {
		plan := &x.plans[task]
		if plan.used>>part&1 == 0 {
			continue
		}
		for _, e := range plan.released[part] {
			if p.ids[e.key] == e.id {
				p.set(e.key, e.id, 0)
			}
		}
	}
	for task := range x.tasks {
		plan := &x.plans[task]
		if plan.used>>part&1 == 0 {
			continue
		}
		for _, c := range plan.claimed[part] {
			holder, taken := p.ids[c.key]
			switch {
			case taken && c.kept && holder == *c.id:
			case taken && (holder == thisFlush || x.has(holder, c.key)):
				p.refuse = refusal[K]{true, task, int(c.at), c.key, holder}
				return
			default:
				p.set(c.key, holder, thisFlush)
			}
		}
	}
}

// set maps the key to an item, or to none, until cancel.
func (p *indexPart[K]) set(k K, before, id ID) {
	p.before = append(p.before, entry[K]{k, before})
	if id.IsZero() {
		delete(p.ids, k)
	} else {
		p.ids[k] = id
	}
}

// refused returns the error of the first claim whose key is taken.
func (x *Index[K, T]) refused() error {
	first := refusal[K]{}
	for part := range x.parts {
		if r := &x.parts[part].refuse; r.found && (!first.found || r.task < first.task || r.task == first.task && r.at < first.at) {
			first = *r
		}
	}
	if !first.found {
		return nil
	}
	return x.duplicate(first.key, first.holder)
}

func (x *Index[K, T]) apply(part int) {
	p := &x.parts[part]
	for task := range x.tasks {
		for _, c := range x.plans[task].claimed[part] {
			p.ids[c.key] = *c.id
		}
	}
}

// cancel undoes settle.
func (x *Index[K, T]) cancel() {
	for part := range x.parts {
		p := &x.parts[part]
		for i := len(p.before) - 1; i >= 0; i-- {
			if e := p.before[i]; e.id.IsZero() {
				delete(p.ids, e.key)
			} else {
				p.ids[e.key] = e.id
			}
		}
	}
	x.forget()
}

// forget drops the plan of the flush.
func (x *Index[K, T]) forget() {
	for part := range x.parts {
		p := &x.parts[part]
		clear(p.before)
		p.before, p.refuse = highwater.Trim(&p.peak, p.before), refusal[K]{}
	}
	if keep := x.peak.Note(x.tasks, 1); len(x.plans) > keep {
		x.plans = slices.Clone(x.plans[:keep])
	}
	for i := range x.plans { // also plans without a task, which release memory of earlier flushes
		x.plans[i].forget()
	}
	x.tasks = 0
}

func (p *keyPlan[K]) forget() {
	if p.most = max(p.most, p.events); p.most > p.peak.Note(p.events, fewKeys) {
		*p = keyPlan[K]{peak: p.peak}
		return
	}
	for ; p.used != 0; p.used &= p.used - 1 {
		part := bits.TrailingZeros32(p.used)
		clear(p.released[part])
		clear(p.claimed[part])
		p.released[part], p.claimed[part] = p.released[part][:0], p.claimed[part][:0]
	}
	p.claims, p.events = 0, 0
}

const (
	fewKeys  = 256       // keys of a task whose memory is always kept
	keyBlock = 8 << 10   // creates of a task
	fewCosts = 100 << 10 // nanoseconds up to which one task collects all keys
)

// keyFlush plans the keys of a table with indexes.
type keyFlush struct {
	table  *table
	seen   []slotset.Bitset // by shard: rows whose keys are planned
	shards []int            // with commands
	units  int              // shards, then blocks of creates
	tasks  int              // one per unit, or one for all
	cost   []int64

	onTask, onPart, onApply func(int) error // bound once
}

func newKeyFlush(t *table) *keyFlush {
	k := &keyFlush{table: t, seen: make([]slotset.Bitset, len(t.order))}
	k.onTask, k.onPart, k.onApply = k.collect, k.settle, k.apply
	return k
}

// keyCosts are estimates; they only decide whether steps run inline.
var keyCosts = cost{create: 30, erase: 30, put: 60, line: 8}

// plan plans the keys of all items that the batch erases, puts and creates. It is the last step of
// planning, and calls user code. ErrDuplicate names the first taken key.
func (k *keyFlush) plan(ctx context.Context) error {
	t := k.table
	k.shards, k.cost = k.shards[:0], k.cost[:0]
	for i := range t.flushing.shards.All {
		k.shards = append(k.shards, i)
		w := t.work(i)
		k.cost = append(k.cost, w.cost(cost{erase: keyCosts.erase, put: keyCosts.put, line: keyCosts.line}))
	}
	for left := t.recorder.Pending.Survivors(); left > 0; left -= keyBlock {
		k.cost = append(k.cost, int64(min(left, keyBlock)*keyCosts.create))
	}
	if k.units, k.tasks = len(k.cost), len(k.cost); sum(k.cost) < fewCosts {
		k.tasks = min(1, k.units)
	}
	for _, x := range t.indexes {
		x.begin(k.tasks)
	}
	s := t.store
	if err := s.run(ctx, k.tasks, k.onTask, k.cost[:k.tasks]); err != nil {
		return err
	}
	k.divide()
	if err := s.run(ctx, len(k.cost), k.onPart, k.cost); err != nil {
		return err
	}
	for _, x := range t.indexes {
		if err := x.refused(); err != nil {
			return fmt.Errorf("table %q: %w", t.name, err)
		}
	}
	return nil
}

// divide makes the costs of a step over parts, which takes about as long as the last step.
func (k *keyFlush) divide() {
	each := sum(k.cost) / indexParts
	k.cost = k.cost[:0]
	for range len(k.table.indexes) * indexParts {
		k.cost = append(k.cost, each)
	}
}

func sum(costs []int64) (sum int64) {
	for _, cost := range costs {
		sum += cost
	}
	return sum
}

func (k *keyFlush) settle(i int) error {
	k.table.indexes[i/indexParts].settle(i % indexParts)
	return nil
}

func (k *keyFlush) apply(i int) error {
	k.table.indexes[i/indexParts].apply(i % indexParts)
	return nil
}

func (k *keyFlush) collect(task int) error {
	for unit := task; unit < k.units; unit += k.tasks {
		if unit < len(k.shards) {
			k.collectRows(task, k.shards[unit])
		} else {
			k.collectCreates(task, (unit-len(k.shards))*keyBlock)
		}
	}
	return nil
}

func (k *keyFlush) collectCreates(task, lo int) {
	commands := k.table.recorder.Pending
	commands.Runs(lo, min(lo+keyBlock, commands.Survivors()), func(values items.Slice, created []ID) {
		for _, x := range k.table.indexes {
			x.create(task, values, created)
		}
	})
}

// collectRows passes the erases and the last put of each item of a shard to the indexes.
func (k *keyFlush) collectRows(task, index int) {
	t := k.table
	m, commands, seen := t.order[index].Map, t.recorder.Pending, &k.seen[index]
	defer seen.Clear() // key may panic
	erase := func(id ID) {
		if m.Mark(seen, id) == slotset.Marked {
			for _, x := range t.indexes {
				x.erase(task, id, m.Item(id))
			}
		}
	}
	if commands.All() > 0 {
		for id := range m.All {
			erase(id)
		}
	}
	for _, erases := range commands.Erases(index) {
		for _, id := range erases.IDs {
			erase(id)
		}
		for _, row := range erases.Rows {
			erase(m.IDAt(int(row)))
		}
	}
	puts := commands.Puts(index)
	for i := len(puts) - 1; i >= 0; i-- {
		p := puts[i]
		for at := len(p.IDs) - 1; at >= 0; at-- {
			id := &p.IDs[at]
			if id.IsProvisional() || m.Mark(seen, *id) != slotset.Marked {
				continue // the create has the value, or the item is erased, stale or put later
			}
			for _, x := range t.indexes {
				x.put(task, id, m.Item(*id), p.Values.Pointer(at, t.typ.Size))
			}
		}
	}
}

func (f *flush) planKeys(ctx context.Context) error {
	for _, t := range f.tables {
		if t.indexes != nil {
			if err := t.flushing.keys.plan(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// applyKeys maps the claimed keys to their items.
func (f *flush) applyKeys(ctx context.Context) error {
	for _, t := range f.tables {
		if t.indexes == nil {
			continue
		}
		k := t.flushing.keys
		if err := t.store.run(ctx, len(k.cost), k.onApply, k.cost); err != nil {
			return err
		}
		for _, x := range t.indexes {
			x.forget()
		}
	}
	return nil
}

func (t *table) cancelKeys() {
	for _, x := range t.indexes {
		x.cancel()
	}
}
