package store

// Emplace records that v is to be created and returns its provisional handle at
// once. The handle may be stored in values recorded for the same flush and used
// with Erase and Put of the same batch; after the flush [Table.Resolve] gives
// the real one. Lookups never find it, and no flush makes it real in a live item
// that it was written to in place. In every other batch it is stale, however
// often there was a flush, a Discard or a [Store.Rollback] in between, until the
// table has recorded into 17 billion queues since (2^34; a queue counts once per
// batch, and once more per 16,384 creates). Its bits are a name without order and
// may differ from run to run; nothing that a flush does depends on them.
//
// It takes O(1) time and allocates nothing in the steady state (op=record). It
// panics when q was kept past its pass or belongs to another store. A queue that
// exceeds its limit fails as a whole: the pass returns [ErrQueueFull], nothing
// of the queue is applied, and Emplace returns the null handle as soon as the
// queue has noticed, which is when an array of it would grow.
func (t *tableBase[T]) Emplace(q Queue, v T) Handle[T] { return t.recorder.Emplace(q, v) }

// EmplaceItems records a create per item, in order, and appends the provisional
// handles to dst, which it returns; see [Table.Emplace]. It costs a bulk copy.
func (t *tableBase[T]) EmplaceItems(q Queue, items []T, dst []Handle[T]) []Handle[T] {
	return t.recorder.EmplaceItems(q, items, dst)
}

// EmplaceFunc records a create whose value f fills in, knowing its own
// provisional handle; see [Table.Emplace]. f may record more into q. The pointer
// is good until the pass ends, like one that [Table.Staged] gives. When f panics
// the create is cancelled.
func (t *tableBase[T]) EmplaceFunc(q Queue, f func(h Handle[T], v *T)) Handle[T] {
	return t.recorder.EmplaceFunc(q, f)
}

// Staged returns the value recorded in q under the provisional handle p, so that
// it can be completed, and whether q holds it. The pointer is good until the pass
// ends, whatever else is recorded, or until q fails. It takes O(1 + n/16,384)
// time, n being the creates that q recorded for the table.
func (t *tableBase[T]) Staged(q Queue, p Handle[T]) (*T, bool) { return t.recorder.Staged(q, p) }

// Erase records that the item h names is to be erased. A provisional handle of
// the same batch cancels the create. Erases are a set: their order, and whether
// two queues erase the same item, changes nothing but the report's counters.
func (t *tableBase[T]) Erase(q Queue, h Handle[T]) { t.recorder.Erase(q, h) }

// EraseItems records an erase per handle; see [Table.Erase].
func (t *tableBase[T]) EraseItems(q Queue, hs []Handle[T]) { t.recorder.EraseItems(q, hs) }

// Put records that the item h names is to be replaced by v, writes in place
// since the last flush included. The last put by (key, sequence) wins; a put to
// an item erased in the same batch is dropped. A provisional handle of the same
// batch replaces the value of the create.
func (t *tableBase[T]) Put(q Queue, h Handle[T], v T) { t.recorder.Put(q, h, v) }

// Resolve returns the handle of the item that the provisional handle p of the
// last flushed batch was recorded for, and whether there is one: false when the
// create was cancelled, when p is of another batch (see [Table.Emplace]), and when
// p is no provisional handle but a real one already. Flushes without commands do
// not count. It takes
// O(1) time. Who may call it is as for [Table.Get].
func (t *tableBase[T]) Resolve(p Handle[T]) (Handle[T], bool) {
	return t.flushing.resolve(p, t.store.epoch.Load())
}

func (t *tableBase[T]) resolveID(id ID) (ID, bool) {
	h, ok := t.Resolve(Handle[T]{ID: id})
	return h.ID, ok
}
