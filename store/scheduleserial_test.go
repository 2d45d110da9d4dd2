package store_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"handloom/store"

	"pgregory.net/rapid"
)

// The number of tables, and the number of initial items in each.
const (
	serialTables = 4
	serialItems  = 2
)

// keyed has a number of its own, because the schedule decides its handle.
type keyed struct{ Key, Value uint64 }

// serialSystem reads its tables, writes items, puts the first item of each table that it emits
// to, and records its acts.
type serialSystem struct {
	reads, writes, emits []int
	after                int
	acts                 []serialAct
}

type serialAct struct {
	kind  string // put, erase, emplace; or found: erases some items that the system has read
	emits int
	item  int
}

func drawSerialSystems() *rapid.Generator[[]serialSystem] {
	tables := rapid.SliceOfN(rapid.IntRange(0, serialTables-1), 0, 2)
	act := rapid.Custom(func(t *rapid.T) serialAct {
		return serialAct{
			kind:  rapid.SampledFrom([]string{"put", "put", "erase", "emplace", "found"}).Draw(t, "kind"),
			emits: rapid.IntRange(0, 1).Draw(t, "emits"),
			item:  rapid.IntRange(0, serialItems-1).Draw(t, "item"),
		}
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) serialSystem {
		return serialSystem{
			reads: tables.Draw(t, "reads"), writes: tables.Draw(t, "writes"), emits: tables.Draw(t, "emits"),
			after: rapid.IntRange(-15, 3).Draw(t, "after"),
			acts:  rapid.SliceOfN(act, 0, 2).Draw(t, "acts"),
		}
	}), 3, 8)
}

func (y *serialSystem) touched() []int {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(y.reads, y.writes))))
}

func (y *serialSystem) written() []int {
	return slices.Compact(slices.Sorted(slices.Values(y.writes)))
}

type sight map[int][]keyed

// mood is a hash of the items. It decides the written values.
func (v sight) mood() (n uint64) {
	for _, table := range slices.Sorted(maps.Keys(v)) {
		for _, item := range v[table] {
			n = n*31 + item.Key*7 + item.Value
		}
	}
	return n
}

func (v sight) found(table int) (keys []uint64) {
	for _, item := range v[table] {
		if item.Value%3 == 0 {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

func replaced(system, act int, mood uint64) uint64 { return uint64(10*system+act+2) + mood%5*100 }

func grown(system int, mood, value uint64) uint64 { return value*31 + uint64(system) + mood%7 }

func newKey(frame, system, act int) uint64 { return uint64(1000*(frame+1) + 10*system + act) }

type serialPlay struct {
	*store.Store
	tables  [serialTables]*store.Table[keyed]
	first   [serialTables][]store.Handle[keyed]
	systems []serialSystem
	frame   int
	seen    []sight
}

func newSerialPlay(t tb, o store.Options, systems []serialSystem) *serialPlay {
	t.Helper()
	p := &serialPlay{Store: newStore(t, o), systems: systems, seen: make([]sight, len(systems))}
	q := queues(t, p.Store, 1)[0]
	for i := range p.tables {
		p.tables[i] = register(t, p.Store, store.TableOptions[keyed]{Name: fmt.Sprint(i), Shards: 1 + i, ChunkItems: 2})
		for key := range uint64(serialItems) {
			p.first[i] = append(p.first[i], p.tables[i].Emplace(q, keyed{key, key}))
		}
	}
	flush(t, p.Store)
	for i, names := range p.first {
		for k, name := range names {
			p.first[i][k] = resolve(t, p.tables[i], name)
		}
	}
	return p
}

func (p *serialPlay) schedule() (c *store.Schedule, err error) {
	var all []store.System
	resources := func(tables []int) (rs []store.Resource) {
		for _, table := range tables {
			rs = append(rs, p.tables[table])
		}
		return rs
	}
	for i := range p.systems {
		y := &p.systems[i]
		system := store.System{
			Name: fmt.Sprint(i), Reads: resources(y.reads), Writes: resources(y.writes), Emits: resources(y.emits),
			Run: func(ctx context.Context) error { return p.run(ctx, y, i) },
		}
		if y.after >= 0 {
			system.After = []string{fmt.Sprint(y.after % len(p.systems))}
		}
		all = append(all, system)
	}
	err = faultOf(func() { c = store.NewSchedule(p.Store, all...) })
	return c, err
}

func (p *serialPlay) list(table int) (all []keyed) {
	for _, item := range p.tables[table].All() {
		all = append(all, *item)
	}
	slices.SortFunc(all, func(a, b keyed) int { return int(a.Key) - int(b.Key) })
	return all
}

func (p *serialPlay) run(ctx context.Context, y *serialSystem, number int) error {
	seen := make(sight)
	for _, table := range y.touched() {
		seen[table] = p.list(table)
	}
	p.seen[number] = seen
	for _, table := range y.written() {
		err := p.tables[table].ForEach(ctx, func(c store.Chunk[keyed]) {
			for i := range c.Items {
				c.Items[i].Value = grown(number, seen.mood(), c.Items[i].Value)
			}
		})
		if err != nil {
			return err
		}
	}
	if len(y.emits) == 0 {
		return nil
	}
	return p.Each(ctx, 1+len(y.acts), func(i int, q store.Queue) {
		i--
		if i < 0 {
			for _, table := range y.emits {
				p.tables[table].Put(q, p.first[table][0], keyed{0, replaced(number, i, seen.mood())})
			}
			return
		}
		act := y.acts[i]
		at := y.emits[act.emits%len(y.emits)]
		table, h := p.tables[at], p.first[at][act.item]
		switch act.kind {
		case "put":
			table.Put(q, h, keyed{uint64(act.item), replaced(number, i, seen.mood())})
		case "erase":
			table.Erase(q, h)
		case "emplace":
			table.Emplace(q, keyed{newKey(p.frame, number, i), seen.mood()})
		case "found":
			if keys := seen.found(at); len(keys) > 0 {
				for h, item := range table.All() {
					if slices.Contains(keys, item.Key) {
						table.Erase(q, h)
					}
				}
			}
		}
	})
}

// A Run equals its systems in serial order, each followed by a flush.
func TestRun_EqualsSerialExecution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		systems := drawSerialSystems().Draw(t, "systems")
		p := newSerialPlay(t, store.Options{Workers: rapid.SampledFrom([]int{1, 3}).Draw(t, "workers")}, systems)
		serial := newSerialPlay(t, store.Options{Workers: 1}, systems)
		c, err := p.schedule()
		if err != nil {
			t.Skip("they wait for each other")
		}
		if rapid.Bool().Draw(t, "shuffle") {
			noError(t, p.Shuffle(rapid.Uint64().Draw(t, "seed")))
		}
		for frame := range 3 {
			p.frame, serial.frame = frame, frame
			noError(t, onlyError(c.Run(context.Background())))
			for _, i := range c.Order() {
				noError(t, serial.run(context.Background(), &systems[i], i))
				flush(t, serial.Store)
				equal(t, fmt.Sprintf("frame %d, items that system %d reads", frame, i), fmt.Sprint(p.seen[i]), fmt.Sprint(serial.seen[i]))
			}
			for table := range p.tables {
				equalLists(t, fmt.Sprintf("frame %d, table %d", frame, table), p.list(table), serial.list(table)...)
			}
		}
	})
}

// An unrelated system moves a flush between the waves of the two systems.
func TestRun_LaterSystemsPutWins(t *testing.T) {
	for _, moved := range []bool{false, true} {
		s, table := newTable(t, store.Options{Workers: 2}, store.TableOptions[item]{Name: "x"})
		y := register(t, s, store.TableOptions[item]{Name: "y"})
		z := register(t, s, store.TableOptions[item]{Name: "z"})
		h := fill(t, s, table, 1)[0]
		put := func(value uint64) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				return s.Do(ctx, func(q store.Queue) { table.Put(q, h, item{Value: value}) })
			}
		}
		systems := []store.System{
			{Name: "w", Writes: on(y), Emits: on(z), Run: nothing},
			{Name: "first", Reads: on(y), Emits: on(table), Run: put(1)},
			{Name: "second", Emits: on(table), Run: put(2)},
		}
		if moved {
			systems = append(systems, store.System{Name: "g", Reads: on(z), Run: nothing})
		}
		seen := uint64(0)
		systems = append(systems, store.System{Name: "c", Reads: on(table), Run: func(context.Context) error {
			seen = table.At(h).Value
			return nil
		}})
		if _, err := newSchedule(t, s, systems...).Run(t.Context()); err != nil || seen != 2 {
			t.Errorf("with a flush between them %t: the item is %d, %v", moved, seen, err)
		}
	}
}
