package store

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/paged"
)

// Chunked is what [Reduce] visits in chunks of type R: a [*Table] in [Rows], a
// [*StableTable] in chunks of type [StableChunk], a [*Sparse] in chunks of type [SparseChunk].
type Chunked[R any] interface {
	Resource
	chunked(R)
}

func (t *Table[T]) chunked(Rows[T])               {}
func (t *StableTable[T]) chunked(StableChunk[T])  {}
func (s *Sparse[T, C]) chunked(SparseChunk[T, C]) {}

// Reduce computes one partial result per chunk of t with f, in parallel, and
// combines them from the first chunk to the last, so that the result, also a
// floating-point sum, does not depend on workers. Where there are no rows it is the
// zero A.
//
//	hull, err := store.Reduce(ctx, ships, func(r store.Rows[Ship]) (sum float64) {
//		for i := range r.Items {
//			sum += r.Items[i].Hull
//		}
//		return sum
//	}, func(a, b float64) float64 { return a + b })
//
// f only reads: the Queue of its chunk is the zero Queue. Reduce shares the gate with
// Read; it joins a Read, a Write or system, where it takes turns with passes, and with
// [Queue.Context] inside a task it runs inline, over data that no pass around it writes.
// All chunks run even if f panics in one, and the [*PanicError] of the lowest is
// returned; when ctx ends, Reduce stops between chunks and returns its cause.
func Reduce[R, A any](ctx context.Context, t Chunked[R], f func(r R) A, combine func(a, b A) A) (A, error) {
	check.Given(!isNil(t), "store: Reduce", "table")
	check.Given(f != nil, "store: Reduce", "function")
	check.Given(combine != nil, "store: Reduce", "combine function")
	return reduce(ctx, t, *(*func(untyped) A)(unsafe.Pointer(&f)), combine)
}

// untyped stands for the T of a table where it is not known. [Rows], [StableChunk] and
// [SparseChunk] hold addresses of Ts, so that their fields, and how they are passed, are
// the same for every T: a function of the caller can be called with a Rows[untyped].
// Everything below Reduce is compiled for each result A, and not for each T as well.
type untyped struct{}

// untypedKey returns key for the steps that do not know its types.
func untypedKey[T, K any](key func(*T) Handle[K]) func(*untyped) Handle[untyped] {
	return *(*func(*untyped) Handle[untyped])(unsafe.Pointer(&key))
}

// reduce is [Reduce] over a table or its optional data; f takes a chunk of these.
func reduce[A any](ctx context.Context, over Resource, f func(untyped) A, combine func(a, b A) A) (A, error) {
	var none A
	of := over.resource()
	t, data := of.table, of.table.sparseOf(of.part)
	p, err := t.store.enter(ctx, opReduce)
	if err != nil {
		return none, err
	}
	defer p.leave()
	defer p.trace(of.name(over)).end()
	if err := p.mayReduce(of, data); err != nil {
		return none, err
	}
	if check.Full {
		defer t.store.watch(p)()
	}
	r := takeReduction[A](t)
	defer r.release()
	r.table, r.sparse, r.f = t, data, f
	return r.reduce(p, combine)
}

// mayReduce returns an error when a Reduce would read what a pass around it writes or, in
// checked builds, what its system does not name.
func (p *phase) mayReduce(of resource, data *sparseData) error {
	if check.Cheap {
		if err := p.mayReadResource(of); err != nil {
			return err
		}
	}
	if o := p.outer; o != nil {
		if data == nil && o.writes == of.table || data != nil && o.writesSparse == data {
			return fmt.Errorf("store: Reduce over %v inside a pass that writes it: %w; read it in a pass of its own", of, ErrPhase)
		}
	}
	return nil
}

func (p *phase) mayReadResource(of resource) error {
	if of.part != nil {
		return p.mayReadComponent(of.part, "reduces")
	}
	return p.mayRead(of.table)
}

// sparseOf returns the optional data that a part of the table is, or nil.
func (t *table) sparseOf(part *component) *sparseData {
	for _, c := range t.sparse {
		if &c.component == part {
			return c
		}
	}
	return nil
}

// takeReduction returns scratch for a Reduce. It is kept by result type, so that
// a frame loop with several allocates nothing for any of them.
func takeReduction[A any](t *table) *reduction[A] {
	key := (*reduction[A])(nil)
	pool, ok := t.reducers.Load(key)
	if !ok {
		pool, _ = t.reducers.LoadOrStore(key, new(sync.Pool))
	}
	r, ok := pool.(*sync.Pool).Get().(*reduction[A])
	if !ok {
		r = &reduction[A]{pool: pool.(*sync.Pool)}
		r.task = r.run
	}
	return r
}

type reduction[A any] struct {
	pool     *sync.Pool
	table    *table
	sparse   *sparseData // nil: the items of the table
	f        func(untyped) A
	chunks   chunking
	partials []A
	task     func(int) error // run, bound once
}

func (r *reduction[A]) reduce(p *phase, combine func(a, b A) A) (result A, err error) {
	n := r.cut()
	if n > cap(r.partials) {
		r.partials = make([]A, n)
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

// cut finds the chunks and returns their number.
func (r *reduction[A]) cut() int {
	if r.sparse != nil {
		return r.sparse.cut(&r.chunks)
	}
	return r.table.cut(&r.chunks)
}

// run calls the function of the caller with its chunk; see untyped.
func (r *reduction[A]) run(task int) error {
	shard, lo, hi := r.chunks.find(task)
	f := unsafe.Pointer(&r.f)
	switch {
	case r.sparse != nil:
		r.partials[task] = (*(*func(SparseChunk[untyped, untyped]) A)(f))(r.sparse.rows(shard, lo, hi, task))
	case r.table.lookups.packed != nil:
		r.partials[task] = (*(*func(Rows[untyped]) A)(f))(r.table.rows(shard, lo, hi, task))
	default:
		r.partials[task] = (*(*func(StableChunk[untyped]) A)(f))(r.table.stableRows(shard, lo, hi, task))
	}
	return nil
}

// rows returns a run of rows to be read.
func (t *table) rows(shard, lo, hi, index int) Rows[untyped] {
	m := t.packed(shard)
	items := m.Range(lo, min(hi, m.Rows()))
	return Rows[untyped]{Items: *(*[]untyped)(unsafe.Pointer(&items)), Index: index, items: m, row: uint32(lo)}
}

// stableRows returns a run of rows of a stable table to be read.
func (t *table) stableRows(shard, lo, hi, index int) StableChunk[untyped] {
	m := t.order[shard].Map.(*paged.Set)
	return StableChunk[untyped]{Index: index, items: m, lo: lo, hi: min(hi, m.Rows())}
}

func (r *reduction[A]) release() {
	clear(r.partials[:cap(r.partials)])
	r.table, r.sparse, r.f = nil, nil, nil
	r.pool.Put(r)
}
