package runner

import (
	"context"
	"unsafe"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// boundPart is a column or sparse component of any table and element type. Its
// elements are items of the models.
type boundPart interface {
	keeps(i model.Item) model.Item
	// set records; get and write use the element at once.
	set(q store.Queue, id uint64, i model.Item)
	get(id uint64) (model.Item, bool)
	write(id uint64, key uint64)
	written() []uint64
}

// boundColumn is a boundPart that is a column.
type boundColumn interface {
	boundPart
	hasLinks() bool
	exchange(ctx context.Context, with boundColumn) (ok bool, err error) // the columns must have one type
}

// boundSparse is a boundPart of sparse data.
type boundSparse interface {
	boundPart
	unset(q store.Queue, id uint64)
	has(id uint64) bool
	Len() int
	chunkRows() int
	forEach(ctx context.Context, f func(c chunk)) error
	SortAsTable(w *store.Writer)
	putNow(w *store.Writer, id uint64, i model.Item) bool
	removeNow(w *store.Writer, id uint64) bool
	all() []uint64
	changes() model.Changes
}

// elements are the elements of a chunk, by row.
type elements interface {
	len() int
	at(row int) model.Item
	change(row int, f func(key *uint64))
}

// columnOf is a column of a table of Ts, with any element type.
type columnOf[T any] interface {
	boundColumn
	elements(k store.Chunk[T], write bool) elements
	wrote(k store.Chunk[T], row int)
}

// partOf are the methods that columns and sparse data share.
type partOf[T, C any] interface {
	Set(q store.Queue, h store.Handle[T], v C)
	Get(h store.Handle[T]) (*C, bool)
}

// component is the part of both that needs only the shared methods.
type component[T, C any] struct {
	part partOf[T, C]
	kind kind[C]
}

func (p *component[T, C]) keeps(i model.Item) model.Item { return p.kind.keeps(i) }

func (p *component[T, C]) set(q store.Queue, id uint64, i model.Item) {
	p.part.Set(q, handleOf[T](id), p.kind.make(i))
}

func (p *component[T, C]) get(id uint64) (model.Item, bool) {
	v, ok := p.part.Get(handleOf[T](id))
	if !ok {
		return model.Item{}, false
	}
	return p.kind.read(v), true
}

// write writes through the pointer that Get returns.
func (p *component[T, C]) write(id uint64, key uint64) {
	// The caller has asked the model whether the element exists.
	if v, _ := p.part.Get(handleOf[T](id)); p.kind.key != nil {
		*p.kind.key(v) = key
	}
}

// optional is bound sparse data.
type optional[T, C any] struct {
	component[T, C]
	data *store.Sparse[T, C]
}

func (o *optional[T, C]) Len() int                    { return o.data.Len() }
func (o *optional[T, C]) SortAsTable(w *store.Writer) { o.data.SortAsTable(w) }

func (o *optional[T, C]) unset(q store.Queue, id uint64) { o.data.Unset(q, handleOf[T](id)) }
func (o *optional[T, C]) has(id uint64) bool             { return o.data.Has(handleOf[T](id)) }

func (o *optional[T, C]) written() []uint64 { return listed(o.data.Written(), o.data.Get) }
func (o *optional[T, C]) all() []uint64     { return listed(o.data.All(), o.data.Get) }

func (o *optional[T, C]) putNow(w *store.Writer, id uint64, i model.Item) bool {
	return o.data.Put(w, handleOf[T](id), o.kind.make(i))
}

func (o *optional[T, C]) removeNow(w *store.Writer, id uint64) bool {
	return o.data.Remove(w, handleOf[T](id))
}

func (o *optional[T, C]) changes() (c model.Changes) {
	c.Created = listed(o.data.Created(), o.data.Get)
	for h, v := range o.data.Erased() {
		c.Erased, c.Values = append(c.Erased, uint64(h.ID)), append(c.Values, o.kind.read(v))
	}
	return c
}

// chunkRows returns the rows of a chunk: each row has a value and the handle of its owner.
func (o *optional[T, C]) chunkRows() int {
	return chunkRowsOf(unsafe.Sizeof(*new(C)) + unsafe.Sizeof(store.ID(0)))
}

// forEach runs a pass over the rows of sparse data, with the owner of each row.
func (o *optional[T, C]) forEach(ctx context.Context, f func(c chunk)) error {
	return o.data.ForEach(ctx, func(c store.SparseChunk[T, C]) {
		own := func(int, bool) elements { return &elementsOf[C]{c.Items, &o.kind} }
		f(chunk{queue: c.Queue, index: c.Index, handles: idsOf(c.Owners), elements: own, wrote: func(_, i int) { c.Wrote(i) }})
	})
}

// columnDriver is a bound column.
type columnDriver[T, C any] struct {
	component[T, C]
	column *store.Column[T, C]
}

func (c *columnDriver[T, C]) written() []uint64 { return listed(c.column.Written(), c.column.Get) }

// hasLinks reports whether elements have handles. Kinds with links have a share function.
func (c *columnDriver[T, C]) hasLinks() bool { return c.kind.share != nil }

// exchange returns false if the columns have different types.
func (c *columnDriver[T, C]) exchange(ctx context.Context, with boundColumn) (ok bool, err error) {
	// Columns of different types cannot be exchanged; the compiler refuses it in a program.
	other, ok := with.(*columnDriver[T, C])
	if ok {
		err = store.Exchange(ctx, c.column, other.column)
	}
	return ok, err
}

// elements returns the elements of a chunk, to write or to read.
func (c *columnDriver[T, C]) elements(k store.Chunk[T], write bool) elements {
	if write {
		return &elementsOf[C]{c.column.Write(k), &c.kind}
	}
	return &elementsOf[C]{c.column.Read(k), &c.kind}
}

func (c *columnDriver[T, C]) wrote(k store.Chunk[T], row int) { c.column.Wrote(k, row) }

// elementsOf are elements of one type in memory of the store.
type elementsOf[C any] struct {
	all  []C
	kind *kind[C]
}

func (e *elementsOf[C]) len() int              { return len(e.all) }
func (e *elementsOf[C]) at(row int) model.Item { return e.kind.read(&e.all[row]) }

// change changes the key of an element in place, if its kind has keys.
func (e *elementsOf[C]) change(row int, f func(key *uint64)) {
	if e.kind.key != nil {
		f(e.kind.key(&e.all[row]))
	}
}

// addPartAs adds a part to the store and binds it. The store panics if it refuses the part.
func addPartAs[C, T any](b *binding[T], isOptional bool, k kind[C], o store.ColumnOptions[C]) error {
	return PanicOf(func() {
		if isOptional {
			// part and data are one value, once by the shared methods and once by its own.
			s := store.AddSparse(b.common, o)
			b.components = append(b.components, &optional[T, C]{component[T, C]{s, k}, s})
			return
		}
		c := store.AddColumn(b.common.(*store.Table[T]), o)
		b.components = append(b.components, &columnDriver[T, C]{component[T, C]{c, k}, c})
	})
}

// addPart adds a part with elements of a kind.
func (b *binding[T]) addPart(isOptional bool, kind, name string, changes bool) error {
	// Each pair of item and element types is compiled once, so there are few types.
	if kind == script.Word {
		return addPartAs(b, isOptional, wordKind, store.ColumnOptions[word]{Name: name, Changes: changes})
	}
	return addPartAs(b, isOptional, bigKind, store.ColumnOptions[bigItem]{Name: name, Changes: changes, Links: bigLinks, Clone: cloneBig})
}

// parts returns the parts in the order of their numbers.
func (b *binding[T]) parts() []boundPart { return b.components }

// column returns a part that must be a column.
func (b *packed[T]) column(number int) columnOf[T] { return b.components[number].(columnOf[T]) }

// forEachRows runs a pass that writes columns and only reads items.
func (b *packed[T]) forEachRows(ctx context.Context, f func(c chunk)) error {
	return b.table.ForEachRows(ctx, func(c store.Chunk[T]) {
		view := b.view(c)
		view.wrote = func(number, row int) { b.column(number).wrote(c, row) }
		f(view)
	})
}

func (b *packed[T]) view(c store.Chunk[T]) chunk {
	view := chunk{queue: c.Queue, index: c.Index, erase: c.Erase}
	view.elements = func(number int, write bool) elements { return b.column(number).elements(c, write) }
	for i := range c.Items {
		view.handles = append(view.handles, uint64(c.Handle(i).ID))
	}
	return view
}
