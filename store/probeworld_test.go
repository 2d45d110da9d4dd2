package store_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"

	"handloom/store"
)

type (
	probeUnit struct {
		A    int32
		Name string
		Pos  struct{ X, Y int16 }
		Next store.Handle[probeUnit]
	}
	probePlan  struct{ Steps []int32 }
	probeFlash struct{ N int32 }
)

// probeWorld is a random program that tells its oracle the cause of each write.
type probeWorld struct {
	*store.Store
	*probeOracle
	t        *testing.T
	r        *rand.Rand
	units    *store.Table[probeUnit]
	weight   *store.Column[probeUnit, int32]
	height   *store.Column[probeUnit, int32]
	mark     *store.Sparse[probeUnit, string]
	plans    *store.StableTable[probePlan]
	locked   *store.Sparse[probePlan, int32]
	flashes  *store.Table[probeFlash]
	schedule *store.Schedule
}

func newProbeWorld(t *testing.T, seed uint64, observed bool) *probeWorld {
	w := &probeWorld{t: t, r: rand.New(rand.NewPCG(seed, 0))}
	w.Store = newStore(t, store.Options{Workers: 1, AfterFlush: func(*store.Report) { w.flushed() }})
	w.units = register(t, w.Store, store.TableOptions[probeUnit]{Name: "units", Shards: 2, ChunkItems: 4})
	w.weight = addColumn(t, w.units, store.ColumnOptions[int32]{Name: "weight"})
	w.height = addColumn(t, w.units, store.ColumnOptions[int32]{Name: "height"})
	w.mark = addSparse(t, w.units, store.ColumnOptions[string]{Name: "mark"})
	w.plans = registerStable(t, w.Store, store.TableOptions[probePlan]{
		Name: "plans", ChunkItems: 4, Clone: func(dst, src *probePlan) { dst.Steps = append([]int32(nil), src.Steps...) },
	})
	w.locked = addSparse(t, w.plans, store.ColumnOptions[int32]{Name: "locked"})
	w.flashes = register(t, w.Store, store.TableOptions[probeFlash]{Name: "flashes", Events: true})
	w.probeOracle = newProbeOracle(w.Store, observed)
	all := []store.Resource{w.units, w.weight, w.height, w.mark, w.plans, w.locked, w.flashes}
	system := func(name string, run func(ctx context.Context)) store.System {
		return store.System{Name: name, Writes: all, Emits: all, Run: func(ctx context.Context) error {
			w.inSystem(name, func() { run(ctx) })
			return nil
		}}
	}
	w.schedule = store.NewSchedule(w.Store, system("record", w.each), system("move", w.move), system("alter", func(context.Context) { w.alter() }))
	return w
}

// tick runs a random Frame.
func (w *probeWorld) tick() {
	w.begin()
	calls := 0 // with commands; others do not arrive
	for range w.r.IntN(3) {
		before := w.logged()
		noError(w.t, w.Inbox(callOf(func(q store.Queue) { w.record(w.call(q, calls)) })))
		if w.logged() > before {
			calls++
		}
	}
	_, err := w.Frame(w.t.Context(), func(ctx context.Context, wr *store.Writer) error {
		w.started()
		steps := []func(){
			func() { w.each(ctx) }, func() { w.move(ctx) }, func() { w.weigh(ctx) }, func() { w.remark(ctx) },
			func() { w.replan(ctx) }, func() { w.do(ctx) }, func() { w.cull(ctx) },
			func() { w.atOnce(wr) }, func() { w.atOnce(wr) },
			func() { w.do(ctx); w.alter() },
			func() {
				w.boundary("flush")
				noError(w.t, onlyError(w.Flush(ctx)))
			},
			func() {
				w.boundary("Run")
				noError(w.t, onlyError(w.schedule.Run(ctx)))
				w.boundary("the end of the schedule")
			},
			func() {
				w.boundary("Exchange")
				w.wrote("at once", "Exchange", func() { noError(w.t, store.Exchange(ctx, w.weight, w.height)) })
			},
		}
		for range 2 + w.r.IntN(8) {
			steps[w.r.IntN(len(steps))]()
		}
		w.boundary("flush")
		return nil
	})
	noError(w.t, err)
}

// pickItem returns the handle of a random item of n, or null.
func pickItem[T any](r *rand.Rand, n int, all iter.Seq2[store.Handle[T], *T]) (h store.Handle[T]) {
	at := r.IntN(max(1, n))
	for h = range all {
		if at--; at < 0 {
			break
		}
	}
	return h
}

// unit returns an item or, sometimes, a create of the batch.
func (w *probeWorld) unit() store.Handle[probeUnit] {
	if n := len(w.made); n > 0 && w.r.IntN(3) == 0 {
		return store.Handle[probeUnit]{ID: w.made[w.r.IntN(n)]}
	}
	return pickItem(w.r, w.units.Len(), w.units.All())
}

func (w *probeWorld) plan() store.Handle[probePlan] {
	return pickItem(w.r, w.plans.Len(), w.plans.All())
}

func (w *probeWorld) newUnit() probeUnit {
	return probeUnit{A: w.r.Int32N(3), Name: string(rune('a' + w.r.IntN(3))), Next: w.unit()}
}

// record records random commands.
func (w *probeWorld) record(q *probeQueue) {
	for range w.r.IntN(7) {
		switch w.r.IntN(13) {
		case 0, 1, 2:
			h := w.units.Emplace(q.Queue, w.newUnit())
			q.created("units", h.ID)
			w.made = append(w.made, h.ID)
		case 3:
			q.created("plans", w.plans.Emplace(q.Queue, probePlan{[]int32{w.r.Int32N(9)}}).ID)
		case 4:
			q.created("flashes", w.flashes.Emplace(q.Queue, probeFlash{w.r.Int32N(9)}).ID)
		case 5, 6:
			h := w.unit()
			w.units.Put(q.Queue, h, w.newUnit())
			q.named("put", "units", h.ID)
		case 7:
			h := w.unit()
			w.weight.Set(q.Queue, h, w.r.Int32N(3))
			q.named("set", "weight", h.ID)
		case 8:
			h := w.unit()
			w.mark.Set(q.Queue, h, string(rune('a'+w.r.IntN(3))))
			q.named("set", "mark", h.ID)
		case 9:
			h := w.unit()
			w.mark.Unset(q.Queue, h)
			q.named("unset", "mark", h.ID)
		case 10:
			h := w.unit()
			w.units.Erase(q.Queue, h)
			q.named("erase", "units", h.ID)
		case 11:
			h := w.plan()
			w.plans.Put(q.Queue, h, probePlan{[]int32{w.r.Int32N(9), 1}})
			q.named("put", "plans", h.ID)
		case 12:
			if w.r.IntN(12) == 0 {
				w.units.EraseAll(q.Queue)
				q.all("units")
			}
		}
	}
}

func (w *probeWorld) each(ctx context.Context) {
	w.pass("Each", func() {
		before := w.logged()
		fails := w.r.IntN(12) == 0
		err := w.Each(ctx, 3, func(task int, q store.Queue) {
			defer w.task(task)
			w.record(w.queue(q, task))
			if fails && task == 1 {
				q.Fail(errTask)
			}
		})
		if fails {
			wantError(w.t, "a failed task", err, errTask)
			w.dropSince(before)
		} else {
			noError(w.t, err)
		}
	})
}

func (w *probeWorld) do(ctx context.Context) {
	w.pass("Do", func() {
		noError(w.t, w.Do(ctx, func(q store.Queue) {
			defer w.task(0)
			if v, ok := w.units.Get(w.unit()); ok {
				v.Pos.X++
			}
			w.record(w.queue(q, 0))
		}))
	})
}

// move writes units in place and erases some by row.
func (w *probeWorld) move(ctx context.Context) {
	w.pass("ForEach", func() {
		noError(w.t, w.units.ForEach(ctx, func(c store.Chunk[probeUnit]) {
			defer w.task(c.Index)
			q := w.queue(c.Queue, c.Index)
			for i := range c.Items {
				switch w.r.IntN(9) {
				case 0:
					c.Items[i].A++
				case 1:
					c.Erase(i)
					q.byRow("units", c.Handle(i).ID)
				}
			}
			w.record(q)
		}))
	})
}

func (w *probeWorld) weigh(ctx context.Context) {
	w.pass("ForEachRows", func() {
		noError(w.t, w.units.ForEachRows(ctx, func(c store.Chunk[probeUnit]) {
			defer w.task(c.Index)
			for i, weight := 0, w.weight.Write(c); i < len(weight); i++ {
				weight[i] += w.r.Int32N(5) / 4
			}
		}))
	})
}

func (w *probeWorld) remark(ctx context.Context) {
	w.pass("ForEach", func() {
		noError(w.t, w.mark.ForEach(ctx, func(c store.SparseChunk[probeUnit, string]) {
			defer w.task(c.Index)
			q := w.queue(c.Queue, c.Index)
			for i := range c.Items {
				switch w.r.IntN(4) {
				case 0:
					c.Items[i] += "."
				case 1:
					w.mark.Unset(c.Queue, c.Owners[i])
					q.named("unset", "mark", c.Owners[i].ID)
				}
			}
		}))
	})
}

// replan writes the elements of slices, whose memory the old value shares.
func (w *probeWorld) replan(ctx context.Context) {
	w.pass("ForEach", func() {
		noError(w.t, w.plans.ForEach(ctx, func(c store.StableChunk[probePlan]) {
			defer w.task(c.Index)
			q := w.queue(c.Queue, c.Index)
			for h, p := range c.All() {
				switch w.r.IntN(4) {
				case 0:
					p.Steps[0]++
				case 1:
					w.locked.Set(c.Queue, h, w.r.Int32N(4))
					q.named("set", "locked", h.ID)
				}
			}
		}))
	})
}

// cull erases by a condition, in rows of packed tables and handles of stable ones.
func (w *probeWorld) cull(ctx context.Context) {
	limit := 1 + w.r.Int32N(3)
	w.pass("EraseFunc", func() {
		if w.r.IntN(2) == 0 {
			chunk := -1
			for shard := range 2 {
				n := 0
				for h, v := range w.units.All() {
					if int(h.ID.TypeID()-w.typeOf("units")) != shard {
						continue
					}
					if n%4 == 0 {
						chunk++
					}
					if n++; v.A > limit {
						w.queue(store.Queue{}, chunk).byRow("units", h.ID)
					}
				}
			}
			noError(w.t, store.EraseFunc(ctx, w.units, func(v *probeUnit) bool { return v.A > limit }))
			return
		}
		noError(w.t, store.EraseFunc(ctx, w.flashes, func(*probeFlash) bool { return false }))
	})
}

// atOnce runs a random operation of the Writer.
func (w *probeWorld) atOnce(wr *store.Writer) {
	h := w.unit()
	switch w.r.IntN(7) {
	case 0, 1:
		w.immediate("Insert", func() { w.units.Insert(wr, probeUnit{Name: "now"}) })
	case 2:
		w.immediate("Insert", func() { w.plans.Insert(wr, probePlan{[]int32{7}}) })
	case 3:
		w.immediate("Remove", func() { w.units.Remove(wr, h) })
	case 4:
		if w.r.IntN(6) == 0 {
			w.immediate("Clear", func() { w.units.Clear(wr) })
		}
	case 5:
		w.immediate("Put", func() { w.mark.Put(wr, h, fmt.Sprint("at once ", w.r.IntN(3))) })
	case 6:
		w.immediate("Remove", func() { w.mark.Remove(wr, h) })
	}
}

// alter writes outside of phases.
func (w *probeWorld) alter() {
	if v, ok := w.units.Get(w.unit()); ok {
		v.Pos.Y++
	}
	if v, ok := w.weight.Get(w.unit()); ok {
		*v += 2
	}
}
