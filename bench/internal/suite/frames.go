package suite

import (
	"context"
	"sync"

	"handloom/bench/internal/measure"
	"handloom/store"
)

type system struct {
	op      string
	percent uint64
	lookUps int // per thousand items
}

var systems = []system{{"frame1", 1, 100}, {"frame10", 10, 100}, {"storm", 5, 0}}

// frames returns the cases of a frame over n items: a table, plain slices
// without names (one per worker), and the handle map by hand.
func frames(s set[item32]) (cases []measure.Case) {
	for _, y := range systems {
		cases = append(cases, s.scaling(y.op, "table", func(workers int) *measure.Work { return frame(s, y, workers) })...)
		cases = append(cases, s.scaling(y.op, "slice", func(workers int) *measure.Work { return frameOfSlices(y, s.n, workers) })...)
		cases = append(cases, onOneWorker(s.newCase(y.op, "straight", func() *measure.Work { return baselineFrame(y, s) })))
	}
	return perOp(cases)
}

func (y system) move(v *item32, frame uint64) (dies bool) {
	v.x += v.y
	x := (v.v + frame) * 0x9e3779b97f4a7c15
	return (x^x>>29)>>8%100 < y.percent
}

func (y system) looked(n int) int { return n * y.lookUps / 1000 }

func isBorn(v *item32) bool { return v.x == 0 && v.y == 1 }

func born(all []item32) (n int) {
	for i := range all {
		if isBorn(&all[i]) {
			n++
		}
	}
	return n
}

// prepare returns f, or nil without look-ups. Without it, frames run back to
// back, and the walk over all names does not flush the caches.
func (y system) prepare(f func()) func() {
	if y.lookUps == 0 {
		return nil
	}
	return f
}

func frame(s set[item32], y system, workers int) *measure.Work {
	st := newStore(0)
	t := store.Register(st, store.TableOptions[item32]{Shards: shards, Reserve: s.n})
	emplace(st, t, values[item32](s.n))
	var ctx context.Context
	var names []store.Handle[item32]
	number, r := uint64(0), s.random()
	pass := func(c store.Chunk[item32]) {
		for i := range c.Items {
			if v := &c.Items[i]; y.move(v, number) {
				c.Erase(i)
				t.Emplace(c.Queue, item32{v: v.v + 1, y: 1})
			}
		}
	}
	return &measure.Work{
		Within: within(workers, &ctx),
		Prepare: y.prepare(func() { // learn the names of new items; the same for all
			names = drawLive(r, t, names, y.looked(t.Len()))
		}),
		Body: func() {
			number++
			check(t.ForEach(ctx, pass))
			must(st.Flush(ctx))
			var sum uint64
			for _, h := range names[:y.looked(len(names))] {
				if v, ok := t.Get(h); ok {
					sum += v.x
				}
			}
			keep(sum)
		},
		Count: func() (n int) {
			for _, v := range t.All() {
				if isBorn(v) {
					n++
				}
			}
			return n
		},
	}
}

// frameOfSlices gives each worker its own slice. It erases by moving the last
// item into the gap and looks items up by index.
func frameOfSlices(y system, n, workers int) *measure.Work {
	parts := make([][]item32, workers)
	for i := range parts {
		parts[i] = values[item32](n * (i + 1) / workers)[n*i/workers:]
	}
	number := uint64(0)
	tick := func(i int) {
		y.tick(parts[i], number)
		var sum uint64
		for at := range y.looked(len(parts[i])) {
			sum += parts[i][at*7919%len(parts[i])].x
		}
		keep(sum)
	}
	return &measure.Work{Body: func() {
		number++
		var others sync.WaitGroup
		for i := 1; i < workers; i++ {
			others.Go(func() { tick(i) })
		}
		tick(0)
		others.Wait()
	}, Count: func() (n int) {
		for _, all := range parts {
			n += born(all)
		}
		return n
	}}
}

func (y system) tick(all []item32, number uint64) {
	n := len(all)
	for i := 0; i < n; {
		v := &all[i]
		if !y.move(v, number) {
			i++
			continue
		}
		born := item32{v: v.v + 1, y: 1}
		n--
		*v, all[n] = all[n], born // the last item not moved yet; new items follow it
	}
}

func baselineFrame(y system, s set[item32]) *measure.Work {
	m := newBaseline[item32](s.n)
	for _, v := range values[item32](s.n) {
		m.insert(v)
	}
	var names, dead []uint64
	number, r := uint64(0), s.random()
	name := func(row int) uint64 { slot := m.meta[row]; return m.sparse[slot]>>32<<32 | uint64(slot) }
	return &measure.Work{
		Prepare: y.prepare(func() {
			names = names[:0]
			for row := range m.items {
				names = append(names, name(row))
			}
			drawFirst(r, names, y.looked(len(names)))
		}),
		Body: func() {
			number++
			dead = dead[:0]
			for row := range m.items {
				if y.move(&m.items[row], number) {
					dead = append(dead, name(row))
				}
			}
			for _, h := range dead {
				v, _ := m.get(h)
				born := item32{v: v.v + 1, y: 1}
				m.erase(h)
				m.insert(born)
			}
			var sum uint64
			for _, h := range names[:y.looked(len(names))] {
				if v, ok := m.get(h); ok {
					sum += v.x
				}
			}
			keep(sum)
		},
		Count: func() int { return born(m.items) },
	}
}
