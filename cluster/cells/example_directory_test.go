package cells_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"sync"
	"sync/atomic"

	"handloom/cluster/cells"
	"handloom/store"
	"handloom/world"
)

// A Directory finds the items of a table by a key that they keep when they move to
// another cell, where they get another handle. For a while it reports the cell that they
// moved to. It is part of the state of its store. Programs copy this file.
type Directory[K comparable, T any] struct {
	store *store.Store
	items store.TableOf[T]
	key   func(item *T) K
	there *keyed[K, store.Handle[T]]
	gone  *keyed[K, forward]
}

type forward struct {
	To    cells.ID
	Until uint64 // the last tick of the forward
}

// NewDirectory adds a Directory of a table to a store, as four tables whose names begin
// with the name of the table. The table keeps Changes. The directory does not notice
// Insert and Remove. The key of an item never changes, and fmt prints different keys
// differently. It panics as [store.Register] does.
func NewDirectory[K comparable, T any](s *store.Store, items store.TableOf[T], key func(item *T) K) *Directory[K, T] {
	there := newKeyed[K, store.Handle[T]](s, items.Name()+" keys")
	gone := newKeyed[K, forward](s, items.Name()+" gone")
	return &Directory[K, T]{s, items, key, there, gone}
}

// Find returns the handle of the item with a key, and whether there is one: an item that
// existed at the end of the last tick and is live. A second item of a key is never found.
//
// It takes O(1) time, except the first call after a load or a [store.Store.Rollback],
// which takes O(1) for each key. It is called where [store.Table.Get] is.
func (d *Directory[K, T]) Find(key K) (store.Handle[T], bool) {
	if h, ok := d.there.find(key); ok {
		if _, lives := d.items.Get(*h); lives {
			return *h, true
		}
	}
	return store.Handle[T]{}, false
}

// Moved returns the cell of the last [Directory.Forward] of a key, and whether there is
// one. It costs as much as Find.
func (d *Directory[K, T]) Moved(key K) (to cells.ID, ok bool) {
	f, ok := d.gone.find(key)
	if !ok {
		return 0, false
	}
	return f.To, true
}

// Forward makes [Directory.Moved] report that the item of a key has moved to a cell, up to
// the end of the tick until, or to the next item of the key. It fails with
// [store.ErrFull], and panics when w is not in its Write.
func (d *Directory[K, T]) Forward(w *store.Writer, key K, to cells.ID, until uint64) error {
	return d.gone.put(w, key, forward{to, until})
}

// Tick returns a tick of a world that calls tick, flushes its commands, and updates the
// directory. It can be passed to [cells.Outbox.Tick].
func (d *Directory[K, T]) Tick(tick func(ctx context.Context, w *store.Writer, t world.Tick) error) func(ctx context.Context, w *store.Writer, t world.Tick) error {
	return func(ctx context.Context, w *store.Writer, t world.Tick) error {
		if err := tick(ctx, w, t); err != nil {
			return err
		}
		if _, err := d.store.Flush(ctx); err != nil {
			return err
		}
		return d.follow(w, t.Number)
	}
}

// follow updates the entries after a tick.
func (d *Directory[K, T]) follow(w *store.Writer, tick uint64) error {
	created := store.Created(d.items)
	if d.there.sums.Len() == 0 { // no item has an entry yet
		created = d.items.(interface { // of both kinds of tables
			All() iter.Seq2[store.Handle[T], *T]
		}).All()
	}
	for h, item := range store.Erased(d.items) {
		if had, ok := d.there.find(d.key(item)); ok && *had == h {
			d.there.remove(w, d.key(item))
		}
	}
	for h, item := range created {
		key := d.key(item)
		if _, ok := d.Find(key); ok {
			continue
		}
		if err := d.there.put(w, key, h); err != nil {
			return err
		}
		d.gone.remove(w, key)
	}
	var ended []K
	for _, p := range d.gone.pairs.All() {
		if p.Value.Until <= tick {
			ended = append(ended, p.Key)
		}
	}
	for _, key := range ended {
		d.gone.remove(w, key)
	}
	return nil
}

// A keyed is a table of values, each with a key.
type keyed[K comparable, V any] struct {
	pairs *store.Table[pair[K, V]]
	sums  *store.Table[uint64] // after the first put, a hash of all puts and removes
	index atomic.Pointer[index[K, V]]
	build sync.Mutex // held while readers make an index
}

type pair[K comparable, V any] struct {
	Key   K
	Value V
}

// An index finds the pairs of a state with the same sum. It is not part of the state: a
// look-up that finds the index of another state builds a new one.
type index[K comparable, V any] struct {
	sum   uint64
	pairs map[K]store.Handle[pair[K, V]]
}

func newKeyed[K comparable, V any](s *store.Store, name string) *keyed[K, V] {
	pairs := store.Register(s, store.TableOptions[pair[K, V]]{Name: name})
	sums := store.Register(s, store.TableOptions[uint64]{Name: name + " sum"})
	return &keyed[K, V]{pairs: pairs, sums: sums}
}

func (k *keyed[K, V]) find(key K) (*V, bool) {
	p, ok := k.pairs.Get(k.current().pairs[key])
	if !ok {
		return nil, false
	}
	return &p.Value, true
}

func (k *keyed[K, V]) put(w *store.Writer, key K, v V) error {
	if old, ok := k.find(key); ok {
		*old = v
		return nil
	}
	if k.sums.Len() == 0 {
		if _, err := k.sums.Insert(w, 0); err != nil {
			return err
		}
	}
	h, err := k.pairs.Insert(w, pair[K, V]{key, v})
	if err != nil {
		return err
	}
	i := k.current()
	i.pairs[key] = h
	k.note(i, key, h.ID)
	return nil
}

func (k *keyed[K, V]) remove(w *store.Writer, key K) {
	if i := k.current(); k.pairs.Remove(w, i.pairs[key]) {
		delete(i.pairs, key)
		k.note(i, key, 0)
	}
}

// note adds a change of pairs and index to the sum.
func (k *keyed[K, V]) note(i *index[K, V], key K, id store.ID) {
	for _, sum := range k.sums.All() {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d %v", *sum, id, key)
		*sum = h.Sum64()
		i.sum = *sum
	}
}

// current returns the index of the state. It builds a missing one.
func (k *keyed[K, V]) current() *index[K, V] {
	var now uint64
	for _, sum := range k.sums.All() {
		now = *sum
	}
	if i := k.index.Load(); i != nil && i.sum == now {
		return i
	}
	k.build.Lock()
	defer k.build.Unlock()
	if i := k.index.Load(); i != nil && i.sum == now {
		return i
	}
	i := &index[K, V]{now, make(map[K]store.Handle[pair[K, V]], k.pairs.Len())}
	for h, p := range k.pairs.All() {
		i.pairs[p.Key] = h
	}
	k.index.Store(i)
	return i
}
