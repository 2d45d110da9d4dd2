package cells_test

import (
	"context"
	"errors"
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
	there *store.Table[entry[K, T]]
	gone  *store.Table[forward[K]]
	sums  *store.Table[sum]
	index atomic.Pointer[index[K, T]]
	build sync.Mutex // held while readers make an index
}

type entry[K comparable, T any] struct {
	Key    K
	Handle store.Handle[T]
}

type forward[K comparable] struct {
	Key   K
	To    cells.ID
	Until uint64 // the last tick of the forward
}

// An index has the contents of the tables, for look-ups. It is not part of the state: a
// look-up that finds the index of another state builds a new one.
type index[K comparable, T any] struct {
	sum   uint64
	there map[K]store.Handle[entry[K, T]]
	gone  map[K]store.Handle[forward[K]]
}

// A sum is a hash of all changes since the first: two states with the same sum have the
// same entries.
type sum struct{ Sum uint64 }

// NewDirectory adds a Directory of a table to a store, as three tables whose names begin
// with the name of the table. The table keeps Changes. The directory does not notice
// Insert and Remove. The key of an item never changes, and fmt prints different keys
// differently. Errors are the errors of [store.Register].
func NewDirectory[K comparable, T any](s *store.Store, items store.TableOf[T], key func(item *T) K) (*Directory[K, T], error) {
	d := &Directory[K, T]{store: s, items: items, key: key}
	name := items.Name()
	var errs [3]error
	d.sums, errs[0] = store.Register(s, store.TableOptions[sum]{Name: name + " sum"})
	d.there, errs[1] = store.Register(s, store.TableOptions[entry[K, T]]{Name: name + " keys"})
	d.gone, errs[2] = store.Register(s, store.TableOptions[forward[K]]{Name: name + " gone"})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("directory: %w", err)
	}
	return d, nil
}

// Find returns the handle of the item with a key, and whether there is one: an item that
// existed at the end of the last tick and is live. A second item of a key is never found.
//
// It takes O(1) time, except the first call after a load or a [store.Store.Rollback],
// which takes O(1) for each key. It is called where [store.Table.Get] is.
func (d *Directory[K, T]) Find(key K) (store.Handle[T], bool) {
	e, ok := d.there.Get(d.current().there[key])
	if !ok || !d.lives(e.Handle) {
		return store.Handle[T]{}, false
	}
	return e.Handle, true
}

func (d *Directory[K, T]) lives(h store.Handle[T]) bool {
	_, ok := d.items.Get(h)
	return ok
}

// Moved returns the cell of the last [Directory.Forward] of a key, and whether there is
// one. It costs as much as Find.
func (d *Directory[K, T]) Moved(key K) (to cells.ID, ok bool) {
	f, ok := d.gone.Get(d.current().gone[key])
	if !ok {
		return 0, false
	}
	return f.To, true
}

// Forward makes [Directory.Moved] report that the item of a key has moved to a cell, up to
// the end of the tick until, or to the next item of the key. It fails with
// [store.ErrFull], and panics when w is not in its Write.
func (d *Directory[K, T]) Forward(w *store.Writer, key K, to cells.ID, until uint64) error {
	i := d.current()
	if f, ok := d.gone.Get(i.gone[key]); ok {
		f.To, f.Until = to, until
		return nil
	}
	h, err := d.gone.Insert(w, forward[K]{key, to, until})
	if err != nil {
		return err
	}
	i.gone[key] = h
	d.note(i, key, h.ID)
	return nil
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
	i := d.current()
	if d.sums.Len() == 0 {
		return d.begin(w, i)
	}
	for h, item := range store.Erased(d.items) {
		d.remove(w, i, d.key(item), h)
	}
	for h, item := range store.Created(d.items) {
		if err := d.add(w, i, d.key(item), h); err != nil {
			return err
		}
	}
	var ended []K
	for _, f := range d.gone.All() {
		if f.Until <= tick {
			ended = append(ended, f.Key)
		}
	}
	for _, key := range ended {
		d.back(w, i, key)
	}
	return nil
}

// begin makes the first entries, of all items after the first tick.
func (d *Directory[K, T]) begin(w *store.Writer, i *index[K, T]) error {
	if _, err := d.sums.Insert(w, sum{1}); err != nil {
		return err
	}
	i.sum = 1
	all := d.items.(interface { // of both kinds of tables
		All() iter.Seq2[store.Handle[T], *T]
	})
	for h, item := range all.All() {
		if err := d.add(w, i, d.key(item), h); err != nil {
			return err
		}
	}
	return nil
}

// remove ends the entry of an item that was erased.
func (d *Directory[K, T]) remove(w *store.Writer, i *index[K, T], key K, h store.Handle[T]) {
	if e, ok := d.there.Get(i.there[key]); !ok || e.Handle != h {
		return
	}
	d.there.Remove(w, i.there[key])
	delete(i.there, key)
	d.note(i, key, 0)
}

// add makes an entry of an item that was created.
func (d *Directory[K, T]) add(w *store.Writer, i *index[K, T], key K, h store.Handle[T]) error {
	if e, ok := d.there.Get(i.there[key]); ok {
		if d.lives(e.Handle) {
			return nil
		}
		e.Handle = h // no index has it
		return nil
	}
	made, err := d.there.Insert(w, entry[K, T]{key, h})
	if err != nil {
		return err
	}
	i.there[key] = made
	d.note(i, key, h.ID)
	d.back(w, i, key)
	return nil
}

// back ends a forward, if there is one.
func (d *Directory[K, T]) back(w *store.Writer, i *index[K, T], key K) {
	h := i.gone[key]
	if !d.gone.Remove(w, h) {
		return
	}
	delete(i.gone, key)
	d.note(i, key, h.ID)
}

// note adds a change of entries and index to the sum.
func (d *Directory[K, T]) note(i *index[K, T], key K, id store.ID) {
	for _, s := range d.sums.All() {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d %d %v", s.Sum, id, key)
		s.Sum = h.Sum64()
		i.sum = s.Sum
	}
}

// current returns the index of the state. It builds a missing one.
func (d *Directory[K, T]) current() *index[K, T] {
	var now uint64
	for _, s := range d.sums.All() {
		now = s.Sum
	}
	if i := d.index.Load(); i != nil && i.sum == now {
		return i
	}
	d.build.Lock()
	defer d.build.Unlock()
	if i := d.index.Load(); i != nil && i.sum == now {
		return i
	}
	i := &index[K, T]{now, make(map[K]store.Handle[entry[K, T]], d.there.Len()), make(map[K]store.Handle[forward[K]], d.gone.Len())}
	for h, e := range d.there.All() {
		i.there[e.Key] = h
	}
	for h, f := range d.gone.All() {
		i.gone[f.Key] = h
	}
	d.index.Store(i)
	return i
}
