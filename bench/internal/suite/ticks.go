package suite

import (
	"context"
	"fmt"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// Cases of small ticks, as most ticks of a program are. An op is a tick.

const ticksInBody = 64

// fewCommands returns the cases of n puts to random items of a table with one
// shard or the maximum.
func fewCommands(s set[item8]) (cases []measure.Case) {
	for _, variant := range []struct {
		impl   string
		shards int
	}{{"table.1shard", 1}, {"table.64shards", store.MaxShards}} {
		cases = append(cases, tickCase(s, "fewcommands", variant.impl, func() *measure.Work {
			st := newStore(1)
			t := store.Register(st, store.TableOptions[item8]{Shards: variant.shards})
			names := emplace(st, t, values[item8](store.MaxShards*64))
			r := s.random()
			return ticks(s, st, 1, func(q store.Queue) {
				for range s.n {
					t.Put(q, names[r.IntN(len(names))], item8{})
				}
			})
		}))
	}
	return cases
}

const tables64 = 64

// manyTables returns the cases of n commands to as many of 64 tables. One tick
// erases an item, the next tick of that table creates one.
func manyTables(s set[item8]) []measure.Case {
	cases := s.scaling("manytables", "table", func(workers int) *measure.Work { return tickOfTables(s, workers) })
	return perOp(append(cases, onOneWorker(s.newCase("manytables", "map", func() *measure.Work { return tickOfMaps(s) }))))
}

func tickOfTables(s set[item8], workers int) *measure.Work {
	st := newStore(workers)
	var tables [tables64]*store.Table[item8]
	var live, last [tables64]store.Handle[item8] // last: provisional handle of the item
	for i := range tables {
		tables[i] = store.Register(st, store.TableOptions[item8]{Name: fmt.Sprint(i)})
		live[i] = emplace(st, tables[i], values[item8](1000))[0]
	}
	at, begun := 0, 0 // counters of tables
	return ticks(s, st, workers, func(q store.Queue) {
		for i := begun; i < at; i++ {
			table := i % tables64
			live[table], _ = tables[table].Resolve(last[table])
		}
		for begun = at; at < begun+s.n; at++ {
			table := at % tables64
			if last[table] = (store.Handle[item8]{}); live[table].ID.IsZero() {
				last[table] = tables[table].Emplace(q, itemOf[item8](1))
			} else {
				tables[table].Erase(q, live[table])
			}
		}
	})
}

func tickOfMaps(s set[item8]) *measure.Work {
	var maps [tables64]map[uint64]item8
	for i := range maps {
		maps[i] = make(map[uint64]item8)
		for key, v := range values[item8](1000) {
			maps[i][uint64(key)] = v
		}
	}
	at := 0
	return &measure.Work{Items: ticksInBody, Body: func() {
		for range ticksInBody * s.n {
			if m := maps[at%tables64]; len(m) < 1000 {
				m[0] = itemOf[item8](1)
			} else {
				delete(m, 0)
			}
			at++
		}
	}, Count: func() int { return at }}
}

// registering returns the cases of registering n tables in an empty store and
// in a store with many tables. Another store has the remaining tables, because
// their number slows collector and allocator.
func registering(s set[item8]) (cases []measure.Case) {
	const many = 4000
	for _, variant := range []struct {
		impl   string
		before int
	}{{"table", 0}, {"table.behind4000", many}} {
		c := s.newCase("register", variant.impl, func() *measure.Work {
			var st, other *store.Store
			register := func(st *store.Store, from, n int) {
				for i := range n {
					store.Register(st, store.TableOptions[item8]{Name: fmt.Sprint(from + i)})
				}
			}
			return &measure.Work{
				Items: s.n,
				Prepare: func() {
					st, other = newStore(1), newStore(1)
					register(st, 0, variant.before)
					register(other, 0, many-variant.before)
				},
				Body:  func() { register(st, variant.before, s.n) },
				Count: func() int { return len(st.Stats()) - variant.before },
			}
		})
		cases = append(cases, c)
	}
	return cases
}

// smallFlushes returns the cases of a flush of n commands, half erases and half
// creates, to one or many tables, from one or two tasks.
func smallFlushes(s set[item8]) (cases []measure.Case) {
	for _, variant := range []struct {
		impl          string
		tables, tasks int
	}{
		{"table.1task", 1, 1},
		{"table.2tasks", 1, 2},
		{"table.64tables.1task", tables64, 1},
		{"table.64tables.2tasks", tables64, 2},
	} {
		cases = append(cases, s.scaling("smallflush", variant.impl, func(workers int) *measure.Work { return smallFlush(s, variant.tables, variant.tasks, workers) })...)
	}
	return cases
}

func smallFlush(s set[item8], tables, recorders, workers int) *measure.Work {
	st := newStore(workers)
	all := make([]*store.Table[item8], tables)
	live := make([][]store.Handle[item8], tables)
	each := max(1, s.n/2/tables) // number of erases, and of creates, per table
	for i := range all {
		all[i] = store.Register(st, store.TableOptions[item8]{Name: fmt.Sprint(i), Shards: shards})
		emplace(st, all[i], values[item8](2*each))
	}
	r := s.random()
	var ctx context.Context
	var f flushing
	return &measure.Work{
		Items:  2 * each * tables,
		Within: within(workers, &ctx),
		Prepare: func() {
			for i, t := range all {
				live[i] = drawLive(r, t, live[i], each)
			}
			check(st.Each(ctx, recorders, func(task int, q store.Queue) {
				for i, t := range all {
					for _, h := range live[i][each*task/recorders : each*(task+1)/recorders] {
						t.Erase(q, h)
						t.Emplace(q, itemOf[item8](1))
					}
				}
			}))
		},
		Body:  func() { f.flush(ctx, st) },
		Count: f.count,
	}
}

func ticks(s set[item8], st *store.Store, workers int, record func(q store.Queue)) *measure.Work {
	var ctx context.Context
	var f flushing
	task := func(_ int, q store.Queue) {
		record(q)
	}
	return &measure.Work{
		Items: ticksInBody, Within: within(workers, &ctx),
		Body: func() {
			for range ticksInBody {
				check(st.Each(ctx, 1, task))
				f.flush(ctx, st)
			}
		},
		Count: f.count,
	}
}

func tickCase(s set[item8], op, impl string, open func() *measure.Work) measure.Case {
	return perOp([]measure.Case{s.newCase(op, impl, open)})[0]
}

func perOp(cases []measure.Case) []measure.Case {
	for i := range cases {
		cases[i].Unit = measure.PerOp
	}
	return cases
}
