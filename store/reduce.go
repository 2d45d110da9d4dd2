package store

import (
	"context"
	"fmt"
	"sync"
	"unsafe"

	"handloom/internal/check"
)

// Chunked is a resource that [Reduce] visits in chunks of type R: a [*Table] in [Chunk], a
// [*StableTable] in [StableChunk], a [*Sparse] in [SparseChunk].
type Chunked[R any] interface {
	resource() resource
	chunked(R)
}

func (t *Table[T]) chunked(Chunk[T])              {}
func (t *StableTable[T]) chunked(StableChunk[T])  {}
func (s *Sparse[T, C]) chunked(SparseChunk[T, C]) {}

// Reduce computes one partial result per chunk of t with f, in parallel, and combines
// them from the first chunk to the last, so that even a floating-point sum does not
// depend on workers. Without rows the result is the zero A.
//
//	hull, err := store.Reduce(ctx, ships, func(c store.Chunk[Ship]) (sum float64) {
//		for i := range c.Items {
//			sum += c.Items[i].Hull
//		}
//		return sum
//	}, func(a, b float64) float64 { return a + b })
//
// f must only read; the Queue of its chunk is the zero Queue. Reduce shares the gate with
// Read. It joins a Read, and a Frame or system one at a time with passes. With
// [Queue.Context] it runs inline inside a task, over data that the passes around it do
// not write. All chunks run even if f panics; Reduce then returns the [*PanicError] of
// the lowest chunk. When ctx ends, Reduce stops between chunks and returns its cause.
func Reduce[R, A any](ctx context.Context, t Chunked[R], f func(r R) A, combine func(a, b A) A) (A, error) {
	check.Given(t != nil && t.resource().table != nil, "store: Reduce", "table")
	check.Given(f != nil, "store: Reduce", "function")
	check.Given(combine != nil, "store: Reduce", "combine function")
	return reduce(ctx, t.resource(), *(*func(untyped) A)(unsafe.Pointer(&f)), combine)
}

// untyped replaces the T of a table in untyped code. [Chunk], [StableChunk] and
// [SparseChunk] hold addresses of Ts, so their layout and calling convention are the same
// for every T: a user function can be called with a Chunk[untyped]. So everything below
// Reduce is compiled once per result A, not per T.
type untyped struct{}

// untypedKey returns key for untyped steps.
func untypedKey[T, K any](key func(*T) Handle[K]) func(*untyped) Handle[untyped] {
	return *(*func(*untyped) Handle[untyped])(unsafe.Pointer(&key))
}

func reduce[A any](ctx context.Context, target resource, f func(untyped) A, combine func(a, b A) A) (A, error) {
	var none A
	t, data := target.table, target.table.sparseOf(target.component)
	p, err := t.store.enter(ctx, opReduce)
	if err != nil {
		return none, err
	}
	defer p.leave()
	defer p.trace(target.name(nil)).end()
	if err := p.mayReduce(target, data); err != nil {
		return none, err
	}
	if check.Full {
		defer t.store.watch(p)()
	}
	r := takeReduction[A](t)
	defer r.release()
	r.domain, r.f = domain{t, data}, f
	return r.reduce(p, combine)
}

// mayReduce returns an error when a Reduce would read data that a pass around it writes
// or, in checked builds, that its system does not declare.
func (p *phase) mayReduce(target resource, data *sparseData) error {
	if check.Cheap {
		if err := p.mayReadResource(target); err != nil {
			return err
		}
	}
	if o := p.outer; o != nil {
		if data == nil && o.writes == target.table || data != nil && o.writesSparse == data {
			return fmt.Errorf("store: Reduce over %v inside a pass that writes it: %w; read it in a pass of its own", target, ErrPhase)
		}
	}
	return nil
}

func (p *phase) mayReadResource(target resource) error {
	if target.component != nil {
		return p.mayReadComponent(target.component, "reduces")
	}
	return p.mayRead(target.table)
}

// sparseOf returns the sparse data with the component, or nil.
func (t *table) sparseOf(wanted *component) *sparseData {
	for _, c := range t.sparse {
		if &c.component == wanted {
			return c
		}
	}
	return nil
}

// takeReduction returns scratch memory for a Reduce. It is kept by result type, so that a
// frame loop allocates nothing.
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
	pool *sync.Pool
	domain
	f        func(untyped) A
	chunks   chunking
	partials []A
	task     func(int) error // run, bound once
}

func (r *reduction[A]) reduce(p *phase, combine func(a, b A) A) (result A, err error) {
	n := r.cut(&r.chunks)
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

// run calls the user function with its chunk; see untyped.
func (r *reduction[A]) run(task int) error {
	shard, lo, hi := r.chunks.find(task)
	f := unsafe.Pointer(&r.f)
	switch {
	case r.sparse != nil:
		r.partials[task] = (*(*func(SparseChunk[untyped, untyped]) A)(f))(r.sparse.rows(shard, lo, hi, task))
	case r.table.lookups.packed != nil:
		r.partials[task] = (*(*func(Chunk[untyped]) A)(f))(r.table.rows(shard, lo, hi, task))
	default:
		r.partials[task] = (*(*func(StableChunk[untyped]) A)(f))(r.table.stableRows(shard, lo, hi, task))
	}
	return nil
}

func (t *table) rows(shard, lo, hi, index int) Chunk[untyped] {
	m := t.packed(shard)
	items := m.Range(lo, min(hi, m.Rows()))
	return Chunk[untyped]{Items: *(*[]untyped)(unsafe.Pointer(&items)), Index: index, pass: &reducing, items: m, row: uint32(lo)}
}

func (t *table) stableRows(shard, lo, hi, index int) StableChunk[untyped] {
	m := t.pages(shard)
	return StableChunk[untyped]{Index: index, pass: &reducing, items: m, lo: lo, hi: min(hi, m.Rows())}
}

func (r *reduction[A]) release() {
	clear(r.partials[:cap(r.partials)])
	r.domain, r.f = domain{}, nil
	r.pool.Put(r)
}
