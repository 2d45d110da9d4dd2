package scenario

import (
	"context"
	"iter"

	"handloom/store"
)

// table is a table of the store, whatever its kind and the size of its items.
type table interface {
	len() int
	pass(ctx context.Context, p Pass, c *choices) error
	create(q store.Queue, h head) store.ID
	putFor(q store.Queue, id store.ID)
	read(id store.ID) (head, bool)
	shards(w *store.Writer, f func(shard, items int, ids iter.Seq[store.ID]))
}

// register adds a table to s, with typeIds from first on.
func register(s *store.Store, t Table, first int) (table, error) {
	switch t.Bytes {
	case 32:
		return registerAs[[0]uint64](s, t, first)
	case 64:
		return registerAs[[4]uint64](s, t, first)
	case 128:
		return registerAs[[12]uint64](s, t, first)
	case 256:
		return registerAs[[28]uint64](s, t, first)
	}
	return registerAs[[124]uint64](s, t, first)
}

func registerAs[P any](s *store.Store, t Table, first int) (table, error) {
	options := store.TableOptions[item[P]]{Name: t.Name, Shards: t.Shards, TypeID: first, Reserve: t.Items}
	if t.Stable {
		items, err := store.RegisterStable(s, options)
		return stable[P]{common[P]{s, items}, items}, err
	}
	items, err := store.Register(s, options)
	return packed[P]{common[P]{s, items}, items}, err
}

// common is what both kinds do alike.
type common[P any] struct {
	store *store.Store
	items interface {
		Len() int
		Emplace(store.Queue, item[P]) store.Handle[item[P]]
		Erase(store.Queue, store.Handle[item[P]])
		Put(store.Queue, store.Handle[item[P]], item[P])
		Get(store.Handle[item[P]]) (*item[P], bool)
		Handle(store.ID) (store.Handle[item[P]], bool)
	}
}

func (t common[P]) len() int { return t.items.Len() }

func (t common[P]) create(q store.Queue, h head) store.ID {
	return t.items.Emplace(q, item[P]{head: h}).ID
}

// putFor records a put to the item that id names, or to none if it is gone.
func (t common[P]) putFor(q store.Queue, id store.ID) {
	h, _ := t.items.Handle(id)
	var next item[P]
	if it, ok := t.items.Get(h); ok {
		next = *it
	}
	t.put(q, h, &next)
}

func (t common[P]) put(q store.Queue, h store.Handle[item[P]], it *item[P]) {
	next := *it
	next.Puts++
	t.items.Put(q, h, next)
}

func (t common[P]) read(id store.ID) (head, bool) {
	h, _ := t.items.Handle(id)
	it, ok := t.items.Get(h)
	if !ok {
		return head{}, false
	}
	return it.head, true
}

// visit is what a pass does to one item.
func (t common[P]) visit(q store.Queue, h store.Handle[item[P]], it *item[P], p Pass, c *choices, o odds) {
	it.State = steps(it.State, p.Steps)
	if p.Follow && it.Link != 0 && t.store.Has(it.Link) {
		it.State++
	}
	if o.put == 0 {
		return
	}
	switch dice := c.dice(it.Key); {
	case dice < o.erase:
		t.items.Erase(q, h)
	case dice < o.put:
		t.put(q, h, it)
	}
}

type packed[P any] struct {
	common[P]
	table *store.Table[item[P]]
}

func (t packed[P]) pass(ctx context.Context, p Pass, c *choices) error {
	return t.table.ForEach(ctx, func(_ context.Context, chunk store.Chunk[item[P]]) error {
		o := c.odds(chunk.Handle(0).ID.TypeID())
		for i := range chunk.Items {
			t.visit(chunk.Queue, chunk.Handle(i), &chunk.Items[i], p, c, o)
		}
		return nil
	})
}

func (t packed[P]) shards(w *store.Writer, f func(shard, items int, ids iter.Seq[store.ID])) {
	eachShard[P](store.Maps(t.table, w), f)
}

type stable[P any] struct {
	common[P]
	table *store.StableTable[item[P]]
}

func (t stable[P]) pass(ctx context.Context, p Pass, c *choices) error {
	return t.table.ForEach(ctx, func(_ context.Context, chunk store.StableChunk[item[P]]) error {
		for h, it := range chunk.All() {
			t.visit(chunk.Queue, h, it, p, c, c.odds(h.ID.TypeID()))
		}
		return nil
	})
}

func (t stable[P]) shards(w *store.Writer, f func(shard, items int, ids iter.Seq[store.ID])) {
	eachShard[P](store.StableMaps(t.table, w), f)
}

func eachShard[P any, M interface {
	Len() int
	All() iter.Seq2[store.Handle[item[P]], *item[P]]
}](maps []M, f func(shard, items int, ids iter.Seq[store.ID])) {
	for i, m := range maps {
		f(i, m.Len(), func(yield func(store.ID) bool) {
			for h := range m.All() {
				if !yield(h.ID) {
					return
				}
			}
		})
	}
}
