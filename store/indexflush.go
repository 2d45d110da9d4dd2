package store

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"unsafe"

	"handloom/batch"
	"handloom/internal/highwater"
	"handloom/internal/items"
	"handloom/internal/slotset"
)

// A flush plans keys in two steps. A task per shard, and per block of creates, collects the keys
// that its items give up and want, in a list per part of the index. Then a task per list releases
// keys and grants claims, in the order of tasks. Parts share no key, so together they act as one
// map, and the lowest of the claims that they refuse is the first one. A small flush has one task
// and one list.

// indexParts is the number of maps of an index, for as many workers. More tasks than workers even
// out parts of different sizes.
const indexParts = 32

// refusal is the first claim whose key is taken.
type refusal[K comparable] struct {
	sync.Mutex
	found    bool
	task, at int
	key      K
	holder   ID
	second   ID // that is put with the key; null: it is created
}

// keyPlan has the keys that one task collects, by list.
type keyPlan[K comparable] struct {
	released [indexParts][]plannedKey[K]
	claimed  [indexParts][]plannedKey[K]
	claims   int
	events   int
	most     int // events since its memory was released
	peak     highwater.Mark
}

// plannedKey is the key of an item that the flush erases or puts, or a claim: the key of an item
// that it creates or puts. The flush sets the handle of a created item when it applies the create.
type plannedKey[K comparable] struct {
	key  K
	id   ID    // the item; of a claim the item that is put, or what the index had if done
	of   *ID   // of a claim
	at   int32 // number among the claims of the task
	part uint8
	kept bool // a put with the key that the item has
	done bool // the index has changed
}

// part returns the part of a key.
func (x *Index[K, T]) part(k K) map[K]ID { return x.parts[x.partOf(k)] }

// partOf hashes by a seed of this process. Nothing outside of the index depends on parts.
func (x *Index[K, T]) partOf(k K) uint8 { return uint8(maphash.Comparable(x.seed, k) % indexParts) }

// begin prepares tasks that collect keys in 1 or indexParts lists.
func (x *Index[K, T]) begin(tasks, lists int) {
	x.tasks, x.lists = tasks, lists
	x.plans = append(x.plans, make([]keyPlan[K], max(0, tasks-len(x.plans)))...)
}

func (p *keyPlan[K]) add(to *[indexParts][]plannedKey[K], lists int, e plannedKey[K]) {
	list := &to[int(e.part)&(lists-1)]
	*list = append(*list, e)
	p.events++
}

func (x *Index[K, T]) release(task int, k K, id ID) {
	p := &x.plans[task]
	p.add(&p.released, x.lists, plannedKey[K]{key: k, id: id, part: x.partOf(k)})
}

func (x *Index[K, T]) want(task int, k K, of *ID, put ID, kept bool) {
	p := &x.plans[task]
	p.add(&p.claimed, x.lists, plannedKey[K]{key: k, id: put, of: of, at: int32(p.claims), part: x.partOf(k), kept: kept})
	p.claims++
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
		x.want(task, k, id, *id, kept)
	}
}

func (x *Index[K, T]) create(task int, values items.Slice, created []ID) {
	all := *items.As[T](&values)
	for i := range all {
		if k, ok := x.keyOf(unsafe.Pointer(&all[i])); ok {
			x.want(task, k, &created[i], 0, false)
		}
	}
}

// settle releases the keys of a list, and then grants claims up to the first one whose key is
// taken.
func (x *Index[K, T]) settle(list int) {
	for task := range x.tasks {
		released := x.plans[task].released[list]
		for i := range released {
			e := &released[i]
			if ids := x.parts[e.part]; ids[e.key] == e.id {
				delete(ids, e.key)
				e.done = true
			}
		}
	}
	for task := range x.tasks {
		claimed := x.plans[task].claimed[list]
		for i := range claimed {
			c := &claimed[i]
			ids := x.parts[c.part]
			holder, taken := ids[c.key]
			switch {
			case taken && c.kept && holder == c.id:
			case taken && (holder == thisFlush || x.has(holder, c.key)):
				x.refuse.note(task, int(c.at), c.key, holder, c.id)
				return
			default:
				ids[c.key] = thisFlush
				c.id, c.done = holder, true
			}
		}
	}
}

func (r *refusal[K]) note(task, at int, k K, holder, second ID) {
	r.Lock()
	defer r.Unlock()
	if !r.found || task < r.task || task == r.task && at < r.at {
		r.found, r.task, r.at, r.key, r.holder, r.second = true, task, at, k, holder, second
	}
}

// refused returns the error of the first claim whose key is taken.
func (x *Index[K, T]) refused() error {
	if !x.refuse.found {
		return nil
	}
	return x.duplicate(x.refuse.key, x.refuse.holder, x.refuse.second)
}

func (x *Index[K, T]) apply(list int) {
	for task := range x.tasks {
		for _, c := range x.plans[task].claimed[list] {
			if c.done {
				x.parts[c.part][c.key] = *c.of
			}
		}
	}
}

// cancel undoes settle. A key has at most one release and then one claim.
func (x *Index[K, T]) cancel() {
	for task := range x.tasks {
		for list := range x.lists {
			for _, c := range x.plans[task].claimed[list] {
				if ids := x.parts[c.part]; c.done && c.id.IsZero() {
					delete(ids, c.key)
				} else if c.done {
					ids[c.key] = c.id
				}
			}
		}
	}
	for task := range x.tasks {
		for list := range x.lists {
			for _, e := range x.plans[task].released[list] {
				if e.done {
					x.parts[e.part][e.key] = e.id
				}
			}
		}
	}
	x.forget()
}

// forget drops the plan of the flush.
func (x *Index[K, T]) forget() {
	x.refuse = refusal[K]{}
	if keep := x.peak.Note(x.tasks, 1); len(x.plans) > keep {
		x.plans = slices.Clone(x.plans[:keep])
	}
	for i := range x.plans { // also plans without a task, which release memory of earlier flushes
		x.plans[i].forget(x.lists)
	}
	x.tasks = 0
}

func (p *keyPlan[K]) forget(lists int) {
	if p.most = max(p.most, p.events); p.most > p.peak.Note(p.events, fewKeys) {
		*p = keyPlan[K]{peak: p.peak}
		return
	}
	for list := range lists {
		clear(p.released[list])
		clear(p.claimed[list])
		p.released[list], p.claimed[list] = p.released[list][:0], p.claimed[list][:0]
	}
	p.claims, p.events = 0, 0
}

const (
	fewKeys  = 256       // keys of a task whose memory is always kept
	keyBlock = 8 << 10   // creates of a task
	fewCosts = 100 << 10 // nanoseconds up to which one task does a step
)

// keyFlush plans the keys of a table with indexes.
type keyFlush struct {
	table  *table
	seen   []slotset.Bitset // by shard: rows whose keys are planned
	shards []int            // with commands
	units  int              // shards, then blocks of creates
	tasks  int              // one per unit, or one for all
	lists  int              // of each index: one per part, or one for all
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
	total := int64(0)
	unit := func(cost int64) { k.cost, total = append(k.cost, cost), total+cost }
	for i := range t.flushing.shards.All {
		k.shards = append(k.shards, i)
		w := t.work(i)
		unit(w.cost(cost{erase: keyCosts.erase, put: keyCosts.put, line: keyCosts.line}))
	}
	for left := t.recorder.Pending.Survivors(); left > 0; left -= keyBlock {
		unit(int64(min(left, keyBlock) * keyCosts.create))
	}
	k.units, k.tasks, k.lists = len(k.cost), len(k.cost), indexParts
	if total < fewCosts {
		k.tasks, k.lists = min(1, k.units), 1
	}
	for _, x := range t.indexes {
		x.begin(k.tasks, k.lists)
	}
	s := t.store
	if err := s.run(ctx, k.tasks, k.onTask, k.cost[:k.tasks]); err != nil {
		return err
	}
	if k.lists > 1 {
		if err := s.run(ctx, len(t.indexes)*indexParts, k.onPart, nil); err != nil {
			return err
		}
	}
	for _, x := range t.indexes {
		if err := x.refused(); err != nil {
			return fmt.Errorf("table %q: %w", t.name, err)
		}
	}
	return nil
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
	for i := 0; k.lists == 1 && i < len(k.table.indexes); i++ {
		k.table.indexes[i].settle(0)
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
	if commands.All() > 0 {
		for id := range m.All {
			k.erase(task, index, id)
		}
	}
	commands.Erases(index, func(ids []ID, _ batch.Key) {
		for _, id := range ids {
			k.erase(task, index, id)
		}
	}, func(rows []uint32, _ []ID) {
		for _, row := range rows {
			k.erase(task, index, m.IDAt(int(row)))
		}
	})
	commands.Puts(index, true, func(p *batch.Puts, _ batch.Key) {
		for at := len(p.IDs) - 1; at >= 0; at-- {
			id := &p.IDs[at]
			if id.IsProvisional() || m.Mark(seen, *id) != slotset.Marked {
				continue // the create has the value, or the item is erased, stale or put later
			}
			for _, x := range t.indexes {
				x.put(task, id, m.Item(*id), p.Values.Pointer(at, t.typ.Size))
			}
		}
	})
}

func (k *keyFlush) erase(task, index int, id ID) {
	if m := k.table.order[index].Map; m.Mark(&k.seen[index], id) == slotset.Marked {
		for _, x := range k.table.indexes {
			x.erase(task, id, m.Item(id))
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
		if k.lists > 1 {
			if err := t.store.run(ctx, len(t.indexes)*indexParts, k.onApply, nil); err != nil {
				return err
			}
		}
		for _, x := range t.indexes {
			if k.lists == 1 {
				x.apply(0)
			}
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
