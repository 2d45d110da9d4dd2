package cells

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"handloom/internal/check"
	"handloom/internal/digest"
	"handloom/store"
	"handloom/world"
)

// A Directory finds the items of a table by a key that they keep when they move to
// another cell, where they get another handle; and for a while it tells where they went. It
// is part of the state of its store.
type Directory[K comparable, T any] struct {
	store *store.Store
	items store.TableOf[T]
	key   func(item *T) K
	there *store.Table[entry[K, T]]
	gone  *store.Table[forward[K]]
	sums  *store.Table[sum]
	plan  digest.Plan[K]
	index atomic.Pointer[index[K, T]]
	build sync.Mutex // held while readers make an index
}

type entry[K comparable, T any] struct {
	Key    K
	Handle store.Handle[T]
}

type forward[K comparable] struct {
	Key   K
	To    ID
	Until uint64 // the last tick that it is told in
}

// An index is what the tables hold, for look-ups. It is no part of the state: whoever
// finds that it is of another one makes it anew.
type index[K comparable, T any] struct {
	sum   uint64
	there map[K]store.Handle[entry[K, T]]
	gone  map[K]store.Handle[forward[K]]
}

// A sum is of all changes that led to the entries, so that two states have the same one
// if they have the same entries.
type sum struct{ Sum uint64 }

// NewDirectory adds a Directory of a table to a store, as three tables whose names begin
// with that of the table. The table keeps Changes, and is changed by recording alone: what
// Insert and Remove do goes unnoticed. The key of an item never changes. It fails as
// [store.Register] does.
func NewDirectory[K comparable, T any](s *store.Store, items store.TableOf[T], key func(item *T) K) (*Directory[K, T], error) {
	check.Given(s != nil, "cells: NewDirectory", "Store")
	check.Given(items != nil, "cells: NewDirectory", "table")
	check.Given(key != nil, "cells: NewDirectory", "key function")
	d := &Directory[K, T]{store: s, items: items, key: key, plan: digest.For[K]()}
	name := items.Name()
	var errs [3]error
	d.sums, errs[0] = store.Register(s, store.TableOptions[sum]{Name: name + " sum"})
	d.there, errs[1] = store.Register(s, store.TableOptions[entry[K, T]]{Name: name + " keys"})
	d.gone, errs[2] = store.Register(s, store.TableOptions[forward[K]]{Name: name + " gone"})
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("cells: %w", err)
	}
	return d, nil
}

// Find returns the handle of the item that has a key, and whether there is one: of those
// that were there when the tick before ended, and live. A second item of a key is never
// found.
//
// It takes O(1) time, but for the first call behind a load or a [store.Store.Rollback],
// which takes it for each key. Who may call it is as for [store.Table.Get].
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

// Moved returns the cell that the item of a key has moved to, as [Directory.Forward] said,
// and whether it is known. It costs what Find does.
func (d *Directory[K, T]) Moved(key K) (to ID, ok bool) {
	f, ok := d.gone.Get(d.current().gone[key])
	if !ok {
		return 0, false
	}
	return f.To, true
}

// Forward has [Directory.Moved] tell that the item of a key has moved to a cell, until a
// tick has ended or an item of the key is there again. It fails with [store.ErrFull]
// alone, and panics when w is not in its Write.
func (d *Directory[K, T]) Forward(w *store.Writer, key K, to ID, until uint64) error {
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

// Tick makes a tick of a world of the program's own: it calls tick, flushes what that
// recorded, and finds out which items came and went. It may be given to [Outbox.Tick].
func (d *Directory[K, T]) Tick(tick func(ctx context.Context, w *store.Writer, t world.Tick) error) func(ctx context.Context, w *store.Writer, t world.Tick) error {
	check.Given(tick != nil, "cells: Tick", "function")
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

// follow does to the entries what the tick did to the items.
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

// begin makes the first entries: of what there is behind the first tick.
func (d *Directory[K, T]) begin(w *store.Writer, i *index[K, T]) error {
	if _, err := d.sums.Insert(w, sum{1}); err != nil {
		return err
	}
	i.sum = 1
	all := d.items.(interface { // as both kinds of tables have it
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
		e.Handle = h // which no index has
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

// note makes a change of entries and index part of the sum.
func (d *Directory[K, T]) note(i *index[K, T], key K, id store.ID) {
	for _, s := range d.sums.All() {
		var h digest.Hash
		h.Uint64(s.Sum)
		h.Uint64(uint64(id))
		d.plan.Items(&h, []K{key})
		s.Sum = h.Sum()
		i.sum = s.Sum
	}
}

// current returns the index of the state, which it makes if there is none.
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
