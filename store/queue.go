package store

import (
	"context"
	"fmt"
	"math/rand/v2"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/internal/items"
	"handloom/internal/paged"
)

// Queue records the commands of a task or of an inbox call, through methods of tables
// such as [Table.Emplace]. It belongs to the task's goroutine until the pass ends.
// Recording into a queue after its pass, through a table of another store, or into the
// zero Queue panics.
//
// A queue over its limit fails as a whole: its commands are dropped and its pass returns
// [ErrQueueFull].
//
// See guide/spawn-and-kill.md.
type Queue batch.Queue

// Fail makes the pass of the queue return err; the task continues until it returns. The
// first error of a task counts, after a panic of the same task. A nil err has no effect.
// Fail panics for the queues of [Store.Inbox], [Store.Submit] and [Store.Queues], and
// after the pass.
func (q Queue) Fail(err error) { batch.Queue(q).Fail(err) }

// Context returns the context of the pass, for [Reduce] and other calls inside a task. It
// panics as [Queue.Fail] does.
func (q Queue) Context() context.Context { return batch.Queue(q).Context() }

// Erase records the erase of the item id in any table of the store; a provisional handle
// of this batch cancels the create. An unknown typeId counts as stale.
func (q Queue) Erase(id ID) { batch.Queue(q).Erase(id) }

// anyTable has the methods of a [Table] and a [StableTable] that need not know T. Methods that do are
// in both, because each that a generic struct promotes is compiled twice more for each T (make build-cost).
type anyTable struct{ core table }

// Emplace records the creation of v and returns its provisional handle. Values recorded
// for the same flush may hold it, and Erase and Put of the same batch may use it; after
// the flush [Table.Resolve] returns the real handle. Lookups do not find it, and flushes
// do not replace it in live items written in place.
//
// In every other batch the handle is stale, also after a Discard or [Store.Rollback]. The
// table issues it again only after 2^34 more queues (a queue counts once per batch, and
// once more per 16,384 creates). In another store, for example after a load, a batch of n
// queues takes it for its own with a probability of n in 2^34. Its bits have no order and
// may differ between runs; no flush depends on them.
//
// It takes O(1) time and allocates nothing in steady use (op=record). It panics when q is
// used after its pass or belongs to another store. From the first command over the
// queue's limit Emplace returns the null handle, and the pass will fail with
// [ErrQueueFull]. Erases of the task's chunk are counted when the task ends.
func (t *Table[T]) Emplace(q Queue, v T) Handle[T] {
	return batch.Emplace(&t.core.recorder, batch.Queue(q), v)
}

// EmplaceItems records a create per value, in order, and appends the provisional handles
// to dst, which it returns; see [Table.Emplace]. Over the limit of the queue all of them are
// null. It costs a bulk copy.
func (t *Table[T]) EmplaceItems(q Queue, values []T, dst []Handle[T]) []Handle[T] {
	return handle.Typed[T](t.core.recorder.EmplaceItems(batch.Queue(q), items.From(values), handle.IDs(dst)))
}

// Staged returns the value recorded in q under the provisional handle p, to complete it,
// and whether q holds it. The pointer is valid as long as q, or until q fails. It takes
// O(1 + n/16,384) time for n creates of q in the table.
func (t *Table[T]) Staged(q Queue, p Handle[T]) (*T, bool) {
	v := (*T)(t.core.recorder.Staged(batch.Queue(q), p.ID))
	return v, v != nil
}

// Erase records the erase of the item h. A provisional handle of the same batch cancels
// the create. Erases are a set: order and repetition only change counters of the report.
func (t *Table[T]) Erase(q Queue, h Handle[T]) { t.core.recorder.Erase(batch.Queue(q), h.ID) }

// EraseItems records an erase per handle; see [Table.Erase].
func (t *Table[T]) EraseItems(q Queue, hs []Handle[T]) {
	t.core.recorder.EraseItems(batch.Queue(q), handle.IDs(hs))
}

// EraseAll records the erase of every item that lives when the flush begins. Items that
// the same batch creates stay. Puts of the batch to erased items are dropped, and other
// erases of them are redundant.
//
// It is one command for limits. A [Report] counts one erase per item,
// and each further EraseAll of the table in the batch as redundant. It takes O(1) time;
// the flush takes the time of all erases, without handle look-ups.
func (t *anyTable) EraseAll(q Queue) { t.core.recorder.EraseAll(batch.Queue(q)) }

// Put records the replacement of the item h by v. It also replaces writes in place since
// the last flush. The last put by (key, sequence) wins; a put to an item erased in the
// same batch is dropped. For a provisional handle of the same batch it replaces the
// created value.
func (t *Table[T]) Put(q Queue, h Handle[T], v T) {
	batch.PutItem(&t.core.recorder, batch.Queue(q), h, v)
}

// Resolve returns the handle of the item for the provisional handle p of the last or
// current frame, and whether it exists. It is false when the create was cancelled, p
// belongs to another frame or was not flushed (see [Table.Emplace]), or p is a real
// handle. The result of p is available until the next frame flushes commands. It takes
// O(1) time per flush of the frame. Callers are as for [Table.Get].
func (t *Table[T]) Resolve(p Handle[T]) (Handle[T], bool) {
	id, ok := t.core.resolve(p.ID)
	return Handle[T]{ID: id}, ok
}

func tableOf[T any](call string, t TableOf[T]) *table {
	if t == nil || t.resource().table == nil {
		check.Given(false, "store: "+call, "table")
	}
	return t.resource().table
}

// TableOf is a table of either kind with items of type T: a [*Table] or a [*StableTable].
type TableOf[T any] interface {
	Resource
	holds(*T) // columns and sparse data have no such method
}

func (t *Table[T]) holds(*T)       {}
func (t *StableTable[T]) holds(*T) {}

// Tasks of chunks record erases by row, and a flush uses the rows directly: translation
// into handles and back would cost more than the erase (op=storm). Rows are valid until a
// Write or Frame changes the table. Its first change replaces them by handles. Each later
// pass of that Frame replaces its own rows, because further changes only count a version.

// endTask records the erases of a chunk's task, unless the task failed, and returns its
// error.
func (p *pass) endTask(chunk int) error {
	err, q := p.queues.Failed(chunk), p.queues.Queue(chunk)
	if err == nil && len(*q.Rows()) > 0 {
		shard, _, _ := p.chunks.find(chunk)
		p.table.eraseRows(q, shard)
	}
	return err
}

// eraseRows records the erases of the rows that were added to a queue. Stable tables
// erase by handle only.
func (t *table) eraseRows(q batch.Queue, shard int) {
	if t.lookups.packed == nil {
		return
	}
	t.recorder.EraseRows(q, shard)
	if check.Full && t.lookups.packed != nil {
		q.Audit(t.packed(shard).IDsAt)
	}
}

// resolveRows replaces the rows to be erased by handles.
func (t *table) resolveRows() { t.store.batch.ResolveRows(&t.recorder, t.idsAt) }

// resolveIfChanged replaces rows by handles in a pass inside a Frame that has changed the
// table.
func (t *table) resolveIfChanged(p *phase, queues *batch.Pass) {
	if s := t.store; s.written[t.ordinal] == s.writes && p.insideFrame() {
		queues.ResolveRows(&t.recorder, t.idsAt)
	}
}

func (t *table) idsAt(shard int, rows []uint32, ids []ID) { t.packed(shard).IDsAt(rows, ids) }

func (p *phase) insideFrame() bool {
	for ; p != nil; p = p.outer {
		if p.op == opFrame {
			return true
		}
	}
	return false
}

// auditRows panics if a row to be erased no longer holds the item it was recorded for.
func (t *table) auditRows() {
	for shard := range t.order {
		t.recorder.Pending.Erases(shard, func([]ID, batch.Key) {}, func(rows []uint32, audits []ID) {
			for i, row := range rows {
				if is := t.packed(shard).IDAt(int(row)); is != audits[i] {
					panic(fmt.Sprintf("checked build: table %q: erase of %v at row %d of shard %d would erase %v", t.name, audits[i], row, shard, is))
				}
			}
		})
	}
}

// Rand returns the random numbers of the task. They depend on [Options.Seed], the state
// and the place of the task in the program, so they are equal for any number of workers,
// on every replica, and after a [Store.Rollback] or [Store.Load]. Further calls return
// the same source. Rand takes O(1) time and allocates nothing in steady use.
//
// The seed consists of Options.Seed, a turn, and the number of the task. Each pass
// outside a schedule and each Run is a turn, even if it fails or has no tasks. In a Run
// the seed also has the name of the system and the number of its pass in the Run, so a
// further system does not affect others.
//
// IntN and other methods with a bound draw other numbers on 32-bit machines, except Uint32N.
//
// Rand panics without Seed, and for the queues of [Store.Inbox], [Store.Submit] and
// [Store.Queues].
func (q Queue) Rand() *rand.Rand { return batch.Queue(q).Rand() }

// random holds the seed of the next pass, as a part of the state.
type random struct {
	value table
	maps  [MaxShards]*paged.Set
}

const randomName = "store.Rand" // of the value, in snapshots and Stats

// turns is the item of the value.
type turns struct{ Seed, Turn uint64 }

// newRandom adds the value to s, which has no tables yet.
func newRandom(s *Store, seed uint64) *random {
	r := new(random)
	initial := items.From([]turns{{Seed: seed}})
	if err := r.value.addValue(s, &r.maps, columnOptions{name: randomName}, randomValue, initial, items.For[turns](), paged.TypeFor[turns]()); err != nil {
		panic(err) // name and typeId are free
	}
	return r
}

// pass seeds a pass of y or, if y is nil, outside a schedule. Systems of a wave call it
// at the same time.
func (r *random) pass(y *system, p *batch.Pass) {
	at := (*turns)(r.value.one())
	if y == nil {
		at.Turn++
		p.Seed(at.Seed, at.Turn)
		return
	}
	y.passes++
	p.Seed(at.Seed, at.Turn, y.nameHash, y.passes)
}

// nameHash returns the part of the seed that distinguishes systems.
func nameHash(name string) uint64 {
	var h digest.Hash
	h.String(name)
	return h.Sum()
}

// run begins the turn of a Run.
func (r *random) run(c *Schedule) {
	(*turns)(r.value.one()).Turn++
	for _, y := range c.systems {
		y.passes = 0
	}
}
