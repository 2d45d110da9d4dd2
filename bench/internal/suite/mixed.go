package suite

import (
	"context"

	"handloom/bench/internal/measure"
	"handloom/store"
)

type peer interface {
	fill(n int) // with items for the entries 0 to n-1
	tick(ctx context.Context, f *mixTick)
}

// mixed returns the cases of the mixed load on n items, in ticks of n steps by
// 8 tasks in a team.
func mixed(s set[item8]) (cases []measure.Case) {
	for _, r := range []struct {
		impl string
		make func(workers int) peer
	}{
		{"table", func(workers int) peer { return newTablePeer(workers) }},
		{"syncmap", func(int) peer { return newShared(&syncMap{}) }},
		{"xsync", func(int) peer { return newShared(newXsync()) }},
		{"rwmutexmap", func(int) peer { return newShared(newLockedMap()) }},
		{"shardedmap", func(int) peer { return newShared(newShardedMap()) }},
		{"rwmutexstraight", func(int) peer { return newShared(newLockedBaseline()) }},
	} {
		cases = append(cases, s.scaling("mixed", r.impl, func(workers int) *measure.Work { return runMix(s, r.make(workers), workers) })...)
	}
	return cases
}

// runMix runs 8 ticks per body, so that workers stay warm.
func runMix(s set[item8], r peer, workers int) *measure.Work {
	r.fill(s.n)
	m := newMix(s.random(), s.n)
	var ticks [8]mixTick
	var ctx context.Context
	return &measure.Work{
		Items: len(ticks) * s.n, Within: within(workers, &ctx),
		Prepare: func() {
			for i := range ticks {
				m.draw(&ticks[i])
			}
		},
		Body: func() {
			for i := range ticks {
				r.tick(ctx, &ticks[i])
			}
		},
	}
}

// tablePeer is a table of 8 shards. Inserts return provisional names, so every
// tick ends by resolving them.
type tablePeer struct {
	store     *store.Store
	table     *store.Table[item8]
	directory []store.Handle[item8]
	current   *mixTick
}

func newTablePeer(workers int) *tablePeer {
	st := newStore(workers)
	return &tablePeer{store: st, table: store.Register(st, store.TableOptions[item8]{Shards: shards})}
}

func (r *tablePeer) fill(n int) {
	r.directory = make([]store.Handle[item8], entries(n))
	copy(r.directory, emplace(r.store, r.table, values[item8](n)))
}

func (r *tablePeer) tick(ctx context.Context, f *mixTick) {
	r.current = f
	check(r.store.Each(ctx, queues, r.record))
	must(r.store.Flush(ctx))
	check(r.store.Each(ctx, queues, r.takeOver))
}

func (r *tablePeer) record(task int, q store.Queue) {
	t, directory := r.table, r.directory
	var sum uint64
	for _, s := range r.current.steps[task] {
		switch s.kind() {
		case lookUp:
			if v, ok := t.Get(directory[s.entry()]); ok {
				sum += v.v
			}
		case insert:
			directory[s.entry()] = t.Emplace(q, item8{uint64(s.entry())})
		case erase:
			t.Erase(q, directory[s.entry()])
		}
	}
	keep(sum)
}

func (r *tablePeer) takeOver(task int, _ store.Queue) {
	for _, entry := range r.current.inserted[task] {
		r.directory[entry], _ = r.table.Resolve(r.directory[entry])
	}
}
