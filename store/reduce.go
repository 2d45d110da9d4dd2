package store

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
)

// Rows is a run of rows of a table given to one task that only reads.
type Rows[T any] struct {
	Items []T // not to be written
	Index int // of the run; depends on row counts alone

	items *dense.Set
	row   int
}

// Handle returns the handle of Items[i].
func (r *Rows[T]) Handle(i int) Handle[T] {
	_ = r.Items[i]
	return Handle[T]{ID: r.items.IDAt(r.row + i)}
}

// Reduce computes one partial result per chunk of t with f, in parallel, and
// combines them from the first chunk to the last, so that the result, also a
// floating-point sum, does not depend on workers. For an empty table it is the
// zero R.
//
// f only reads. Reduce shares the gate with Read; it joins a Read, a Write or
// system, where it takes turns with passes, and inside a task it runs inline, over
// tables that no pass around it writes. All chunks run even if one fails, and the error of the lowest is
// returned; when ctx ends, Reduce stops between chunks and returns its cause.
func Reduce[T, R any](ctx context.Context, t *Table[T], f func(ctx context.Context, r Rows[T]) (R, error), combine func(a, b R) R) (R, error) {
	check.Given(t != nil, "store: Reduce", "table")
	check.Given(f != nil, "store: Reduce", "function")
	check.Given(combine != nil, "store: Reduce", "combine function")
	return reduce(ctx, &t.core, (*table).rows, *(*func(context.Context, Rows[untyped]) (R, error))(unsafe.Pointer(&f)), combine)
}

// untyped stands for the T of a table where it is not known. A [Rows] holds addresses
// of Ts, so that its fields, and how it is passed, are the same for every T: a
// function of the caller can be called with a Rows[untyped]. Everything below
// Reduce is compiled for each result R, and not for each T as well.
type untyped struct{}

// untypedKey returns key for the steps that do not know its types.
func untypedKey[T, K any](key func(*T) Handle[K]) func(*untyped) Handle[untyped] {
	return *(*func(*untyped) Handle[untyped])(unsafe.Pointer(&key))
}

func (t *table) rows(shard, lo, hi, index int) Rows[untyped] {
	m := t.packed(shard)
	items := m.Range(lo, hi)
	return Rows[untyped]{Items: *(*[]untyped)(unsafe.Pointer(&items)), Index: index, items: m, row: lo}
}

// reduce is Reduce for tables of both kinds: V is what f is given of the rows,
// and view makes it.
func reduce[V, R any](ctx context.Context, t *table, view func(t *table, shard, lo, hi, index int) V,
	f func(context.Context, V) (R, error), combine func(a, b R) R,
) (R, error) {
	var none R
	p, err := t.store.enter(ctx, opReduce)
	if err != nil {
		return none, err
	}
	defer p.leave()
	defer p.trace(t.name).end()
	if check.Cheap {
		if err := p.mayRead(t); err != nil {
			return none, err
		}
	}
	if p.outer.writesTable(t) {
		return none, fmt.Errorf("store: Reduce over table %q inside a pass that writes it: %w; read it in a pass of its own", t.name, ErrPhase)
	}
	if check.Full {
		defer t.store.watch(p)()
	}
	r := takeReduction[V, R](t)
	defer r.release()
	r.table, r.ctx, r.view, r.f = t, p, view, f
	return r.reduce(p, combine)
}

// takeReduction returns scratch for a Reduce. It is kept by result type, so that
// a frame loop with several allocates nothing for any of them.
func takeReduction[V, R any](t *table) *reduction[V, R] {
	key := (*reduction[V, R])(nil)
	pool, ok := t.reducers.Load(key)
	if !ok {
		pool, _ = t.reducers.LoadOrStore(key, new(sync.Pool))
	}
	r, ok := pool.(*sync.Pool).Get().(*reduction[V, R])
	if !ok {
		r = &reduction[V, R]{pool: pool.(*sync.Pool)}
		r.task = r.run
	}
	return r
}

type reduction[V, R any] struct {
	pool     *sync.Pool
	table    *table
	ctx      context.Context
	view     func(t *table, shard, lo, hi, index int) V
	f        func(context.Context, V) (R, error)
	chunks   chunking
	partials []R
	task     func(int) error // run, bound once
}

func (r *reduction[V, R]) reduce(p *phase, combine func(a, b R) R) (result R, err error) {
	n := r.table.cut(&r.chunks)
	if n > cap(r.partials) {
		r.partials = make([]R, n)
	}
	r.partials = r.partials[:n]
	if err := r.table.store.runReading(p, n, r.task); err != nil || n == 0 {
		return result, err
	}
	result = r.partials[0]
	for _, partial := range r.partials[1:] {
		result = combine(result, partial)
	}
	return result, nil
}

func (r *reduction[V, R]) run(task int) (err error) {
	shard, lo, hi := r.chunks.find(task)
	hi = min(hi, r.table.order[shard].Map.Rows())
	r.partials[task], err = r.f(r.ctx, r.view(r.table, shard, lo, hi, task))
	return err
}

func (r *reduction[V, R]) release() {
	clear(r.partials[:cap(r.partials)])
	r.table, r.ctx, r.view, r.f = nil, nil, nil, nil
	r.pool.Put(r)
}
