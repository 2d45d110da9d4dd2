package play

import (
	"context"
	"fmt"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

// boundColumn is a column of any table and element, as the player uses it: elements are
// items of the models.
type boundColumn interface {
	keeps(i model.Item) model.Item
	resource() store.Resource
	set(q store.Queue, id uint64, i model.Item)
	get(id uint64) (model.Item, bool)
	at(id uint64) // panics unless the item lives
	write(id uint64, key uint64)
	read(any) (model.Item, bool) // what DumpColumns yields
	written() []uint64
	exchange(ctx context.Context, with boundColumn) error // columns of one type
	isLike(other boundColumn) bool                        // of one type
}

// elements are those of the rows of a chunk.
type elements interface {
	len() int
	at(row int) model.Item
	change(row int, f func(key *uint64))
}

// columnOf is a boundColumn of a table of T.
type columnOf[T any] interface {
	boundColumn
	rows(k store.Chunk[T]) elements
	own(k store.RowsChunk[T]) elements
	beside(k store.RowsChunk[T]) elements
	wrote(k store.RowsChunk[T], row int)
}

// besideTable is a table with columns.
type besideTable interface {
	bound
	addColumn(p *player, kind, name string, changes bool) error
	column(number int) boundColumn
	columns() int
	forEachRows(ctx context.Context, f func(ctx context.Context, c chunk) error) error
}

// column is a [store.Column] as a [columnOf].
type column[T, C any] struct {
	of   *store.Column[T, C]
	kind kind[C]
}

func (c *column[T, C]) keeps(i model.Item) model.Item { return c.kind.keeps(i) }
func (c *column[T, C]) resource() store.Resource      { return c.of }

func (c *column[T, C]) set(q store.Queue, id uint64, i model.Item) {
	c.of.Set(q, handleOf[T](id), c.kind.make(i))
}

func (c *column[T, C]) get(id uint64) (model.Item, bool) {
	v, ok := c.of.Get(handleOf[T](id))
	if !ok {
		return model.Item{}, false
	}
	return c.kind.read(v), true
}

func (c *column[T, C]) at(id uint64) { c.of.At(handleOf[T](id)) }

func (c *column[T, C]) write(id uint64, key uint64) { *c.kind.key(c.of.At(handleOf[T](id))) = key }

func (c *column[T, C]) read(v any) (model.Item, bool) {
	element, ok := v.(*C)
	if !ok {
		return model.Item{}, false
	}
	return c.kind.read(element), true
}

func (c *column[T, C]) written() (ids []uint64) {
	for h := range c.of.Written() {
		ids = append(ids, uint64(h.ID))
	}
	return ids
}

func (c *column[T, C]) exchange(ctx context.Context, with boundColumn) error {
	return store.Exchange(ctx, c.of, with.(*column[T, C]).of)
}

func (c *column[T, C]) isLike(other boundColumn) bool {
	_, ok := other.(*column[T, C])
	return ok
}

func (c *column[T, C]) rows(k store.Chunk[T]) elements {
	return &elementsOf[C]{c.of.Rows(k), &c.kind}
}

func (c *column[T, C]) own(k store.RowsChunk[T]) elements {
	return &elementsOf[C]{c.of.Write(k), &c.kind}
}

func (c *column[T, C]) beside(k store.RowsChunk[T]) elements {
	return &elementsOf[C]{c.of.Beside(k.Rows()), &c.kind}
}

func (c *column[T, C]) wrote(k store.RowsChunk[T], row int) { c.of.Wrote(k, row) }

type elementsOf[C any] struct {
	all []C
	*kind[C]
}

func (e *elementsOf[C]) len() int                            { return len(e.all) }
func (e *elementsOf[C]) at(row int) model.Item               { return e.read(&e.all[row]) }
func (e *elementsOf[C]) change(row int, f func(key *uint64)) { f(e.key(&e.all[row])) }

// richElements are [richKind], of which an element may be zero.
var richElements = func() kind[rich] {
	k := richKind
	k.read = func(r *rich) model.Item {
		if r.Text == "" && r.Numbers == nil && r.Links == nil && r.Set == nil && r.Marks == nil {
			return model.Item{Key: r.Key}
		}
		return richKind.read(r)
	}
	return k
}()

// addColumnAs adds a column to a table of T.
func addColumnAs[C, T any](b *packed[T], name string, changes bool, k kind[C], o store.ColumnOptions[C]) error {
	o.Name, o.Changes = name, changes
	c, err := store.AddColumn(b.table, o)
	if err == nil {
		b.beside = append(b.beside, &column[T, C]{c, k})
	}
	return err
}

func (b *packed[T]) addColumn(p *player, kind, name string, changes bool) error {
	switch kind {
	case program.Word:
		return addColumnAs(b, name, changes, wordKind, store.ColumnOptions[word]{})
	case program.Linked:
		return addColumnAs(b, name, changes, linkedKind, store.ColumnOptions[linked]{})
	}
	words, ok := any(b).(*packed[word]) // see [program.Elements]
	if !ok {
		return fmt.Errorf("no column of %s beside such items", kind)
	}
	return addColumnAs(words, name, changes, richElements, store.ColumnOptions[rich]{Links: richLinks(&p.fuse), Clone: cloneRich})
}

func (b *packed[T]) column(number int) boundColumn { return b.beside[number] }
func (b *packed[T]) columns() int                  { return len(b.beside) }

func (b *packed[T]) forEachRows(ctx context.Context, f func(ctx context.Context, c chunk) error) error {
	return b.table.ForEachRows(ctx, func(ctx context.Context, c store.RowsChunk[T]) error {
		view := chunk{
			queue: c.Queue, index: c.Index, erase: c.Erase,
			own:         func(number int) elements { return b.beside[number].own(c) },
			beside:      func(number int) elements { return b.beside[number].beside(c) },
			wroteBeside: func(number, row int) { b.beside[number].wrote(c, row) },
		}
		for i := range c.Items {
			view.handles = append(view.handles, uint64(c.Handle(i).ID))
		}
		return f(ctx, view)
	})
}
