package store_test

import (
	"fmt"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// recordStep is one step of a task. Steps that need a handle or a pointer use an earlier one.
type recordStep struct {
	op    recordOp
	table int
	n     int
	value uint64
	inner []recordStep
}

type recordOp int

const (
	opEmplace recordOp = iota
	opEmplaceItems
	opEmplaceFunc // writes, runs the inner steps, and writes again
	opStage
	opWrite
	opEraseName
	opPutName
	opPutItem
	numRecordOps
)

func drawRecordSteps(depth int) *rapid.Generator[[]recordStep] {
	step := rapid.Custom(func(t *rapid.T) recordStep {
		s := recordStep{
			op:    recordOp(rapid.IntRange(0, int(numRecordOps)-1).Draw(t, "op")),
			table: rapid.IntRange(0, 1).Draw(t, "table"),
			n:     rapid.SampledFrom([]int{0, 1, 2, 7, 50, 100, 300}).Draw(t, "n"),
			value: uint64(rapid.IntRange(1, 1000).Draw(t, "value")),
		}
		if s.op == opEmplaceFunc && depth > 0 {
			s.inner = drawRecordSteps(depth-1).Draw(t, "inner")
		}
		return s
	})
	return rapid.SliceOfN(step, 0, 12)
}

type recordTask struct {
	store.Queue
	tables [2]*store.Table[item]
	items  [2][]store.Handle[item]
	names  [2][]store.Handle[item]
	staged []*item
}

func (r *recordTask) do(steps []recordStep) {
	for _, s := range steps {
		table, names := r.tables[s.table], &r.names[s.table]
		switch s.op {
		case opEmplace:
			*names = append(*names, table.Emplace(r.Queue, item{Value: s.value, Parent: any1(*names, s.n)}))
		case opEmplaceItems:
			*names = table.EmplaceItems(r.Queue, make([]item, s.n), *names)
		case opEmplaceFunc:
			store.EmplaceFunc(table, r.Queue, func(h store.Handle[item], v *item) { r.fill(h, v, s) })
		case opStage:
			if v, ok := table.Staged(r.Queue, any1(*names, s.n)); ok {
				r.staged = append(r.staged, v)
			}
		case opWrite:
			if v := any1(r.staged, s.n); v != nil {
				v.Value = v.Value*31 + s.value
			}
		case opEraseName:
			table.Erase(r.Queue, any1(*names, s.n))
		case opPutName:
			table.Put(r.Queue, any1(*names, s.n), item{Value: s.value})
		case opPutItem:
			table.Put(r.Queue, any1(r.items[s.table], s.n), item{Value: s.value, Parent: any1(*names, s.n)})
		}
	}
}

// fill is the function of an EmplaceFunc.
func (r *recordTask) fill(h store.Handle[item], v *item, s recordStep) {
	r.names[s.table] = append(r.names[s.table], h)
	v.Parent = h
	own, _ := r.tables[s.table].Staged(r.Queue, h)
	own.Value = s.value
	r.do(s.inner)
	if again, ok := r.tables[s.table].Staged(r.Queue, h); ok {
		again.Value *= 7
	}
	v.Value += s.value
	own.Links[0] = h.ID
	v.Value *= 3
}

func any1[E any](list []E, n int) (e E) {
	if len(list) > 0 {
		e = list[n%len(list)]
	}
	return e
}

type capacityTrial struct {
	tb
	*store.Store
	tables [2]*store.Table[item]
	items  [2][]store.Handle[item]
}

func newCapacityTrial(t tb) *capacityTrial {
	c := &capacityTrial{tb: t, Store: newStore(t, store.Options{})}
	for i := range c.tables {
		c.tables[i] = register(t, c.Store, store.TableOptions[item]{Name: fmt.Sprint("table ", i), Shards: 1 + 2*i})
		c.items[i] = fill(t, c.Store, c.tables[i], 5)
	}
	return c
}

func (c *capacityTrial) record(tasks [][]recordStep) {
	for i, q := range queues(c, c.Store, len(tasks)) {
		r := recordTask{Queue: q, tables: c.tables, items: c.items}
		r.do(tasks[i])
	}
}

func (c *capacityTrial) run(tasks [][]recordStep) uint64 {
	c.record(tasks)
	flush(c, c.Store)
	return digest(c, c.Store)
}

func (c *capacityTrial) burst(n int) {
	for _, q := range queues(c, c.Store, 3) {
		for i, table := range c.tables {
			for _, h := range table.EmplaceItems(q, make([]item, n), nil) {
				table.Put(q, c.items[i][0], item{Parent: h})
				table.Erase(q, h)
			}
		}
	}
}

func (c *capacityTrial) discard() {
	noError(c, c.Discard())
}

// Neither array capacities nor the values of provisional handles change the outcome.
func TestCapacity_DoesNotAffectOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.SliceOfN(drawRecordSteps(2), 1, 3).Draw(t, "tasks")
		burst := rapid.SampledFrom([]int{0, 10, 2000}).Draw(t, "burst")
		want := newCapacityTrial(t).run(tasks)

		warm := newCapacityTrial(t)
		var start store.Checkpoint
		checkpoint(t, warm.Store, &start)
		for _, before := range []func(){
			func() { warm.record(tasks); warm.discard() },
			func() { warm.run(tasks) },
			func() { warm.burst(burst); warm.discard() },
			func() { warm.burst(burst); flush(t, warm.Store) },
		} {
			before()
			rollback(t, warm.Store, &start)
			equal(t, "digest in memory that was used before", warm.run(tasks), want)
			rollback(t, warm.Store, &start)
		}
	})
}
