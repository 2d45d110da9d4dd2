package store

import (
	"context"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/items"
	"handloom/shard/handle"
)

// Queue records the commands of one task, or of one call of the inbox; the methods
// of tables take it, such as [Table.Emplace]. It belongs to the goroutine that runs
// the task, until the pass ends; recording into a queue that was kept longer, or
// through a table of another store, panics. The zero Queue panics as well.
//
// A queue that is given more than its limit fails as a whole: what it holds is
// dropped and its pass returns [ErrQueueFull].
//
// The guide's page is guide/spawn-and-kill.md.
type Queue batch.Queue

// Fail notes that the task of the queue has failed with err, for its pass to return; the
// task runs until it returns. Of several errors of a task the first counts, and a nil err
// changes nothing. A panic of the same task comes before. Fail panics for the queues of
// [Store.Inbox], [Store.Submit] and [Store.Queues], and when the pass has ended.
func (q Queue) Fail(err error) { batch.Queue(q).Fail(err) }

// Context returns the context of the pass, with which a task calls [Reduce], and what else
// takes one. It panics as [Queue.Fail] does.
func (q Queue) Context() context.Context { return batch.Queue(q).Context() }

// Erase records that the item id names is to be erased, whichever table of the
// store it is in; a provisional handle of this batch cancels the create. A handle
// whose typeId belongs to no table is counted as stale.
func (q Queue) Erase(id ID) { batch.Queue(q).Erase(id) }

// Emplace records that v is to be created and returns its provisional handle at
// once. The handle may be stored in values recorded for the same flush and used
// with Erase and Put of the same batch; after the flush [Table.Resolve] gives
// the real one. Lookups never find it, and no flush makes it real in a live item
// that it was written to in place. In every other batch it is stale, however
// often there was a flush, a Discard or a [Store.Rollback] in between, until the
// table has recorded into 17 billion queues since (2^34; a queue counts once per
// batch, and once more per 16,384 creates). In another store, such as the one that
// loads a snapshot, names begin at random: there the handle is stale, except with
// a chance of n in 2^34 in a batch of n queues. Its bits are a name without order and
// may differ from run to run; nothing that a flush does depends on them.
//
// It takes O(1) time and allocates nothing in the steady state (op=record). It
// panics when q was kept past its pass or belongs to another store. A queue that
// exceeds its limit fails as a whole: the pass returns [ErrQueueFull], nothing
// of the queue is applied, and Emplace returns the null handle from the first
// command on that the limit does not admit. What chunks of the task erase is
// counted when the task ends.
func (t *Table[T]) Emplace(q Queue, v T) Handle[T] {
	return batch.Emplace(&t.core.recorder, batch.Queue(q), v)
}

// EmplaceItems records a create per item, in order, and appends the provisional
// handles to dst, which it returns; see [Table.Emplace]. It costs a bulk copy.
func (t *Table[T]) EmplaceItems(q Queue, values []T, dst []Handle[T]) []Handle[T] {
	return handle.Typed[T](t.core.recorder.EmplaceItems(batch.Queue(q), items.From(values), handle.IDs(dst)))
}

// Staged returns the value recorded in q under the provisional handle p, so that
// it can be completed, and whether q holds it. The pointer is good until the pass
// ends, whatever else is recorded, or until q fails. It takes O(1 + n/16,384)
// time, n being the creates that q recorded for the table.
func (t *Table[T]) Staged(q Queue, p Handle[T]) (*T, bool) {
	v := (*T)(t.core.recorder.Staged(batch.Queue(q), p.ID))
	return v, v != nil
}

// Erase records that the item h names is to be erased. A provisional handle of
// the same batch cancels the create. Erases are a set: their order, and whether
// two queues erase the same item, changes nothing but the report's counters.
func (t *Table[T]) Erase(q Queue, h Handle[T]) { t.core.recorder.Erase(batch.Queue(q), h.ID) }

// EraseItems records an erase per handle; see [Table.Erase].
func (t *Table[T]) EraseItems(q Queue, hs []Handle[T]) {
	t.core.recorder.EraseItems(batch.Queue(q), handle.IDs(hs))
}

// EraseAll records that every item is to be erased which lives when the flush begins: a
// table of events is emptied by it, behind the systems that read them. Items that the same
// batch creates stay. Puts of the batch to the items are dropped, and other erases of them
// redundant.
//
// It is one command to limits and to [Store.Pending]. A [Report] counts it as erased once
// per item, and each further EraseAll of the table in the batch as redundant. It takes O(1)
// time; the flush takes what it does for erases of all of them, without looking up handles.
func (t *Table[T]) EraseAll(q Queue) { t.core.recorder.EraseAll(batch.Queue(q)) }

// Put records that the item h names is to be replaced by v, writes in place
// since the last flush included. The last put by (key, sequence) wins; a put to
// an item erased in the same batch is dropped. A provisional handle of the same
// batch replaces the value of the create.
func (t *Table[T]) Put(q Queue, h Handle[T], v T) {
	batch.PutItem(&t.core.recorder, batch.Queue(q), h, v)
}

// Resolve returns the handle of the item that the provisional handle p was recorded for,
// in a flush of the last frame or of the one that runs, and whether there is one: false
// when the create was cancelled, when p is of another frame or was not flushed (see
// [Table.Emplace]), and when p is no provisional handle but a real one already. It is
// good until the first flush with commands of the next frame. It takes O(1) time for each
// flush of the frame. Who may call it is as for [Table.Get].
func (t *Table[T]) Resolve(p Handle[T]) (Handle[T], bool) {
	id, ok := t.core.resolve(p.ID)
	return Handle[T]{ID: id}, ok
}

// EmplaceFunc records a create in t whose value f fills in, knowing its own
// provisional handle; see [Table.Emplace]. f may record more into q. The pointer
// is good until the pass ends, like one that [Table.Staged] gives. When f panics
// the create is cancelled.
func EmplaceFunc[T any](t TableOf[T], q Queue, f func(h Handle[T], v *T)) Handle[T] {
	return batch.EmplaceFunc(&t.resource().table.recorder, batch.Queue(q), f)
}

// tableOf returns the table that t is, and panics if t is nil.
func tableOf[T any](call string, t TableOf[T]) *table {
	if t == nil || t.isNil() {
		check.Given(false, "store: "+call, "table")
	}
	return t.resource().table
}

// TableOf is a table of either kind whose items are of type T, a [*Table] or a
// [*StableTable], for the functions that serve both.
type TableOf[T any] interface {
	Resource
	Get(h Handle[T]) (*T, bool)
	Handle(id ID) (Handle[T], bool) // which columns and optional data have not
}
