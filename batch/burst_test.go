package batch_test

import (
	"runtime"
	"testing"

	"handloom/batch"
	"handloom/handle"
	"handloom/internal/check"
	"handloom/internal/highwater"
	"handloom/internal/items"
)

type yard struct {
	*batch.Batch
	tables []recorder[value]

	flushes int
	used    []bool // by table, in this period
}

func newYard(tables int) *yard {
	y := &yard{Batch: batch.New(batch.Limits{}), tables: make([]recorder[value], tables), used: make([]bool, tables)}
	for i := range y.tables {
		y.tables[i].Init(y.Batch, uint16(7+i), 1, items.For[value]())
	}
	return y
}

func (y *yard) flush() {
	y.Seal()
	gathered, _ := y.Gather()
	for _, ordinal := range gathered {
		r := &y.tables[ordinal]
		r.Pending.FixSurvivors()
		r.Publish(true)
		y.used[ordinal] = true
	}
	y.Finish()
	if y.flushes++; y.flushes%highwater.Period > 0 {
		return
	}
	for i, used := range y.used {
		if !used {
			y.tables[i].Trim(false)
		}
	}
	clear(y.used)
}

func (y *yard) record(tasks int, f func(q queue)) {
	p := y.Begin(tasks)
	for task := range tasks {
		f(p.Queue(task))
	}
	_ = p.End(false)
}

func (y *yard) call(f func(q queue)) {
	q, _ := y.Enter()
	f(q)
	_ = y.AddCall(q, nil)
}

var someItem = name{ID: handle.New(7, 1, 1)}

func times(each int, f func(y *yard, q queue)) func(y *yard, n int) {
	return func(y *yard, n int) {
		y.record(1, func(q queue) {
			for range each * n {
				f(y, q)
			}
		})
	}
}

func inTables(f func(r *recorder[value], q queue)) func(y *yard, n int) {
	return func(y *yard, n int) {
		y.record(16, func(q queue) {
			for i := range min(n/16+1, len(y.tables)) {
				f(&y.tables[i], q)
			}
		})
	}
}

// bursts record n times about 1 KiB.
var bursts = map[string]func(y *yard, n int){
	"creates": times(1, func(y *yard, q queue) { y.tables[0].EmplaceItems(q, make([]value, 64), nil) }),
	"creates of few tasks": func(y *yard, n int) { // queues that are always kept
		y.record(min(n+1, 16), func(q queue) { y.tables[0].EmplaceItems(q, make([]value, 4*n), nil) })
	},
	"staged creates": times(64, func(y *yard, q queue) { y.tables[0].EmplaceStaged(q, func(name, *value) {}) }),
	"puts":           times(32, func(y *yard, q queue) { y.tables[0].Put(q, someItem, value{}) }),
	"erases":         times(1, func(y *yard, q queue) { y.tables[0].EraseItems(q, make([]name, 128)) }),
	"unknown erases": times(128, func(_ *yard, q queue) { q.Erase(1) }),
	"tasks":          func(y *yard, n int) { y.record(n, func(q queue) { y.tables[0].Emplace(q, value{}) }) },
	"erasing tasks":  func(y *yard, n int) { y.record(n, func(q queue) { y.tables[0].Erase(q, someItem) }) },
	"passes": func(y *yard, n int) {
		for range n {
			y.record(1, func(q queue) { y.tables[0].Emplace(q, value{}) })
		}
	},
	"created in tables": inTables(func(r *recorder[value], q queue) { r.EmplaceItems(q, make([]value, 512), nil) }),
	"erased in tables":  inTables(func(r *recorder[value], q queue) { r.EraseItems(q, make([]name, 1024)) }),
	"calls": func(y *yard, n int) {
		for range min(n/8+1, 500) { // a short list is always kept
			y.call(func(q queue) { y.tables[0].EmplaceItems(q, make([]value, 1024), nil) })
		}
	},
}

// encodedBursts record about 2 KiB in an encoded call.
var encodedBursts = map[string]func(y *yard, q queue){
	"arrived creates": func(y *yard, q queue) { y.tables[0].EmplaceItems(q, make([]value, 128), nil) },
	"arrived puts": func(y *yard, q queue) {
		for range 128 {
			y.tables[1].Put(q, someItem, value{})
		}
	},
	"arrived erases": func(y *yard, q queue) { y.tables[2].EraseItems(q, make([]name, 256)) },
}

func TestTrim_ReleasesMemoryOfABurst(t *testing.T) {
	alone(t)
	for what, record := range bursts {
		t.Run(what, func(t *testing.T) { expectGivenBack(t, newYard(300), record) })
	}
	for what, record := range encodedBursts {
		t.Run(what, func(t *testing.T) {
			y := newYard(3)
			a := y.Claim(errReleased)
			expectGivenBack(t, y, func(y *yard, n int) {
				for range n {
					arrive(t, a, func(q queue) { record(y, q) })
				}
				putSealed(t, y, a)
			})
		})
	}
}

func expectGivenBack(t *testing.T, y *yard, record func(y *yard, n int)) {
	t.Helper()
	const quiet = 300 // batches: several periods in which memory is kept
	calm := func() {
		for range quiet {
			record(y, 1)
			y.flush()
		}
	}
	calm()
	before := heap()
	for round := range 3 {
		record(y, 4000)
		y.flush()
		burst := heap() - before
		calm()
		if released := func() bool { return heap()-before <= burst/32 }; burst < 1<<20 || !check.Collected(released) {
			t.Errorf("of %d bytes of burst %d later batches have left %d", burst, round, heap()-before)
		}
	}
	runtime.KeepAlive(y)
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // empties pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// An input allocates the list that Seal returns.
func TestBatch_SteadyStateAllocatesNothing(t *testing.T) {
	if check.Cheap || testing.CoverMode() != "" {
		t.Skip("checks, the race detector and coverage allocate")
	}
	y := newYard(20)
	items, names := make([]value, 300), make([]name, 0, 300)
	turn := 0
	expectMallocs(t, 20, func() {
		turn++
		for i := turn % 2; i < len(y.tables); i += 2 {
			r := &y.tables[i]
			y.record(2, func(q queue) {
				names = r.EmplaceItems(q, items, names[:0])
				r.EmplaceStaged(q, func(_ name, v *value) { v.N = 1 })
				r.Put(q, names[0], value{})
				r.EraseItems(q, names)
				q.Erase(1)
			})
		}
		y.call(func(q queue) { y.tables[turn%2].Emplace(q, value{}) })
		y.flush()
	})
	c := newYard(2)
	a, call, input := c.Claim(errReleased), batch.NewCall(), []byte(nil)
	expectMallocs(t, rounds+20, func() {
		for i := range 4 {
			q, err := a.Enter()
			noError(t, err)
			c.tables[i%2].Emplace(q, value{})
			c.tables[i%2].Put(q, someItem, value{})
			c.tables[i%2].Erase(q, someItem)
			q.Erase(1)
			noError(t, a.AddCall(q, call))
		}
		input, _ = a.Seal(input[:0], 1<<20)
		noError(t, c.PutInput(input, nil))
		c.flush()
	})
}

const rounds = 500

func expectMallocs(t *testing.T, limit uint64, round func()) {
	t.Helper()
	for range 200 {
		round()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range rounds {
		round()
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > limit {
		t.Errorf("%d batches allocate %d objects, want %d at most", rounds, n, limit)
	}
}

// An array that could not move because of pointers into it grows in the next batch.
func TestStaged_LaterBatchGrowsInPlace(t *testing.T) {
	b := newBench(1<<20, 1)
	b.EmplaceStaged(b.Begin(1).Queue(0), func(name, *value) {})
	b.Drop(nil)
	q := b.Begin(1).Queue(0)
	for range segmentItems {
		b.Emplace(q, value{})
	}
	if n := b.commands().Places(); n > 2 {
		t.Errorf("creates for one segment have room for %d", n/2)
	}
}
