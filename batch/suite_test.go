package batch_test

import (
	"flag"
	"testing"
	"unsafe"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/items"
)

// Each run checks the same cases, or drawn ones with -rapid.seed=0.
var _ = flag.Set("rapid.seed", "1")

// value is the item type of most tests.
type value struct {
	N    uint64
	Link handle.ID
}

type name = handle.Of[value]

const segmentItems = 16_384

type bench struct {
	*batch.Batch
	recorder[value]
}

func newBench(limit, shards int) *bench {
	b := newLimited(batch.Limits{QueueCommands: limit}, shards)
	b.BeginSegments(0)
	return b
}

func newLimited(limits batch.Limits, shards int) *bench {
	b := &bench{Batch: batch.New(limits)}
	b.Init(b.Batch, 7, shards, items.For[value]())
	return b
}

type recorder[T any] struct{ batch.Recorder }

func newTable[T any](shards int, fields ...uintptr) (*batch.Batch, *recorder[T]) {
	b, r := batch.New(batch.Limits{}), new(recorder[T])
	r.Init(b, 7, shards, items.For[T]())
	r.Links(fields, nil)
	return b, r
}

func (r *recorder[T]) Emplace(q queue, v T) handle.Of[T] { return batch.Emplace(&r.Recorder, q, v) }

func (r *recorder[T]) EmplaceItems(q queue, values []T, dst []handle.Of[T]) []handle.Of[T] {
	return handle.Typed[T](r.Recorder.EmplaceItems(q, items.From(values), handle.IDs(dst)))
}

// EmplaceStaged records a zero value that f writes.
func (r *recorder[T]) EmplaceStaged(q queue, f func(handle.Of[T], *T)) handle.Of[T] {
	var zero T
	h := r.Emplace(q, zero)
	if v, ok := r.Staged(q, h); ok {
		f(h, v)
	}
	return h
}

func (r *recorder[T]) Staged(q queue, p handle.Of[T]) (*T, bool) {
	v := (*T)(r.Recorder.Staged(q, p.ID))
	return v, v != nil
}

func (r *recorder[T]) Put(q queue, h handle.Of[T], v T) { batch.PutItem(&r.Recorder, q, h, v) }

func (r *recorder[T]) Erase(q queue, h handle.Of[T]) { r.Recorder.Erase(q, h.ID) }

func (r *recorder[T]) EraseItems(q queue, hs []handle.Of[T]) {
	r.Recorder.EraseItems(q, handle.IDs(hs))
}

func (b *bench) commands() *batch.Commands {
	b.Recorder.Pending = new(batch.Commands)
	b.Seal()
	b.Gather()
	return b.Recorder.Pending
}

// plan plans all commands and counts the survivors.
func (b *bench) plan(c *batch.Commands) batch.Counts {
	counts := planAll(c)
	counts.Created = c.Survivors()
	return counts
}

func planAll(c *batch.Commands) (counts batch.Counts) {
	c.Erases(0, func(ids []handle.ID, _ batch.Key) {
		for _, id := range ids {
			c.Cancel(id, &counts)
		}
	}, nil)
	c.Puts(0, false, func(puts *batch.Puts, _ batch.Key) {
		for i, id := range puts.IDs {
			c.Replace(id, puts.Values.Pointer(i, unsafe.Sizeof(value{})), &counts)
		}
	})
	c.FixSurvivors()
	return counts
}

func survivors(c *batch.Commands, lo, hi int) (values []uint64) {
	c.Runs(lo, hi, func(run items.Slice, names []handle.ID) {
		for i, v := range *items.As[value](&run) {
			names[i] = real(lo + len(values)).ID
			values = append(values, v.N)
		}
	})
	return values
}

func real(n int) name { return name{ID: handle.New(7, 1, uint32(n))} }

func expectRange(t *testing.T, values []uint64, from, n int) {
	t.Helper()
	if len(values) != n {
		t.Fatalf("%d values, want %d", len(values), n)
	}
	for i, v := range values {
		if v != uint64(from+i) {
			t.Fatalf("value %d is %d, want %d", i, v, from+i)
		}
	}
}

func panicOf(f func()) (value any) {
	defer func() { value = recover() }()
	f()
	return nil
}

type queue = batch.Queue

// alone skips a test of one goroutine under the race detector.
func alone(t *testing.T) {
	t.Helper()
	if check.Cheap && !check.Full {
		t.Skip("the race detector finds nothing on one goroutine")
	}
}
