// Package game is a small program for tests of replicated worlds. Its items are
// created and erased, hold handles and own memory. It has a column, sparse data
// on both kinds of tables, change lists, and notes left by calls. It also has a
// [FaultyLog] and [TearJournal].
package game

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"handloom/store"
	"handloom/world"
)

// past sums all ticks and all entries of change lists, so two histories that
// differ once differ forever.
type (
	unit struct {
		X, Y int32
		Plan store.Handle[plan]
	}
	plan struct {
		Name  string
		Steps []int32
	}
	mark struct {
		By   store.Handle[unit]
		Name string
	}
	past struct{ Sum, Entries uint64 }
)

// Note is a trace of a call: a key and the tick that dated it, 0 before.
type Note struct{ Key, Tick uint64 }

// Game is a store with its tables.
type Game struct {
	*store.Store
	Notes  *store.Table[Note]
	units  *store.Table[unit]
	weight *store.Column[unit, int32]
	marked *store.Sparse[unit, mark]
	plans  *store.StableTable[plan]
	locked *store.Sparse[plan, uint32]
	past   *store.Table[past]
	keep   uint64
}

// New returns a game that erases each note after keep ticks; 0 keeps notes
// forever.
func New(workers int, keep uint64) *Game {
	s := store.New(store.Options{Workers: workers})
	g := &Game{Store: s, keep: keep}
	g.units = store.Register(s, store.TableOptions[unit]{Name: "units", Shards: 3, ChunkItems: 16, MinFree: 4, Changes: true})
	g.plans = store.RegisterStable(s, store.TableOptions[plan]{
		Name: "plans", Shards: 2, Changes: true, Clone: func(dst, src *plan) { *dst = plan{src.Name, slices.Clone(src.Steps)} },
	})
	g.Notes = store.Register(s, store.TableOptions[Note]{Name: "notes", Shards: 2})
	g.past = store.Register(s, store.TableOptions[past]{Name: "past"})
	g.weight = store.AddColumn(g.units, store.ColumnOptions[int32]{Name: "weight", Changes: true})
	g.marked = store.AddSparse(g.units, store.ColumnOptions[mark]{Name: "marked"})
	g.locked = store.AddSparse(g.plans, store.ColumnOptions[uint32]{Name: "locked"})
	return g
}

// Leave returns a call that creates a note and a unit with weight, mark and
// locked plan.
func (g *Game) Leave(key uint64) func(q store.Queue) error {
	return func(q store.Queue) error {
		g.Notes.Emplace(q, Note{Key: key})
		p := g.plans.Emplace(q, plan{Name: "call"})
		u := g.units.Emplace(q, unit{Plan: p})
		g.weight.Set(q, u, int32(key))
		g.marked.Set(q, u, mark{By: u, Name: "call"})
		g.locked.Set(q, p, uint32(key))
		return nil
	}
}

// Left returns the keys of the notes dated by a tick.
func (g *Game) Left(tick uint64) (keys []uint64) {
	for _, n := range g.Notes.All() {
		if n.Tick == tick {
			keys = append(keys, n.Key)
		}
	}
	return keys
}

// Entries returns the number of entries of all change lists so far.
func (g *Game) Entries() (n uint64) {
	for _, p := range g.past.All() {
		n += p.Entries
	}
	return n
}

// Init is for [world.Options].
func (g *Game) Init(_ context.Context, w *store.Writer) error {
	g.past.Insert(w, past{})
	return nil
}

// Tick is for [world.Options]. It reads the change lists around each flush.
func (g *Game) Tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	g.read() // a tick begins with empty lists
	for _, step := range []func(ctx context.Context, t world.Tick) error{g.emplace, g.live, g.weigh, g.replan, g.remember} {
		if err := step(ctx, t); err != nil {
			return err
		}
		g.read()
		if _, err := g.Flush(ctx); err != nil {
			return err
		}
		g.read()
	}
	// Rare changes at once, which depend on the tick alone.
	switch t.Seed % 64 {
	// The next ticks begin with empty tables.
	case 0:
		g.units.Clear(w)
		g.plans.Clear(w)
	case 1, 2, 3, 4:
		g.marked.SortAsTable(w)
	}
	byX := func(a, b *unit) int { return int(a.X) - int(b.X) }
	_, _, err := store.Defragment(ctx, g.units, w, byX, 40)
	g.read()
	return err
}

// read adds all change lists to past, so that a difference in a list stays in the state.
func (g *Game) read() {
	for _, p := range g.past.All() {
		addLists(p, 0, g.units)
		addLists(p, 4, g.plans)
		addList(p, 8, g.weight.Written())
	}
}

// addLists adds the lists of a table.
func addLists[T any](p *past, list uint64, t store.TableOf[T]) {
	for i, items := range []iter.Seq2[store.Handle[T], *T]{store.Created(t), store.Written(t), store.Erased(t)} {
		addList(p, list+uint64(i), items)
	}
}

// addList adds the handles of a list in its order.
func addList[T, C any](p *past, list uint64, items iter.Seq2[store.Handle[T], *C]) {
	for h := range items {
		p.add(list, h.ID)
	}
}

// add mixes a handle and the number of its list into the sum.
func (p *past) add(list uint64, id store.ID) {
	p.Entries++
	p.Sum = (p.Sum ^ uint64(id) ^ list<<56) * 0x9e3779b97f4a7c15
}

// passTasks is the number of recording tasks, for any number of workers.
const passTasks = 4

// emplace creates plans and units that refer to them.
func (g *Game) emplace(ctx context.Context, t world.Tick) error {
	return g.Each(ctx, passTasks, func(task int, q store.Queue) {
		// Each task has its own numbers, so the tick does not depend on workers.
		r := rand.New(rand.NewPCG(t.Seed, uint64(task)))
		for range r.IntN(20) {
			p := plan{Name: fmt.Sprint("plan ", r.IntN(100)), Steps: make([]int32, r.IntN(6))}
			u := g.units.Emplace(q, unit{X: r.Int32N(50), Plan: g.plans.Emplace(q, p)})
			if r.IntN(2) == 0 {
				g.weight.Set(q, u, r.Int32N(90))
			}
		}
	})
}

// live moves units, and erases, replaces or marks some.
func (g *Game) live(ctx context.Context, t world.Tick) error {
	return g.units.ForEach(ctx, func(c store.Chunk[unit]) {
		r := rand.New(rand.NewPCG(t.Seed, uint64(100+c.Index)))
		for i := range c.Items {
			u := &c.Items[i]
			u.Y++
			switch r.IntN(12) {
			case 0:
				c.Erase(i)
				// Two units never share a plan, so each plan is erased once.
				g.plans.Erase(c.Queue, u.Plan)
			case 1:
				c.Wrote(i)
			case 2:
				g.units.Put(c.Queue, c.Handle(i), unit{X: u.X + 10, Y: u.Y, Plan: u.Plan})
			case 3:
				g.marked.Set(c.Queue, c.Handle(i), mark{By: c.Handle(0), Name: "live"})
			}
		}
	})
}

// weigh writes column elements in place. It unsets or writes marks.
func (g *Game) weigh(ctx context.Context, t world.Tick) error {
	err := g.units.ForEachRows(ctx, func(c store.Chunk[unit]) {
		r := rand.New(rand.NewPCG(t.Seed, uint64(1000+c.Index)))
		weight := g.weight.Write(c)
		for i := range weight {
			if r.IntN(4) == 0 {
				weight[i] += c.Items[i].Y
				g.weight.Wrote(c, i)
			}
		}
	})
	if err != nil {
		return err
	}
	return g.marked.ForEach(ctx, func(c store.SparseChunk[unit, mark]) {
		r := rand.New(rand.NewPCG(t.Seed, uint64(2000+c.Index)))
		for i := range c.Items {
			if r.IntN(3) == 0 {
				g.marked.Unset(c.Queue, c.Owners[i])
			} else {
				c.Items[i].Name += "."
			}
		}
	})
}

// replan changes, replaces, locks or unlocks plans.
func (g *Game) replan(ctx context.Context, t world.Tick) error {
	return g.plans.ForEach(ctx, func(c store.StableChunk[plan]) {
		r := rand.New(rand.NewPCG(t.Seed, uint64(3000+c.Index)))
		for h, p := range c.All() {
			switch r.IntN(8) {
			case 0:
				p.Name += "."
				c.Wrote(h)
			case 1:
				g.plans.Put(c.Queue, h, plan{p.Name, append(slices.Clone(p.Steps), int32(len(p.Name)))})
			case 2:
				g.locked.Set(c.Queue, h, uint32(len(p.Steps)))
			case 3:
				g.locked.Unset(c.Queue, h)
			}
		}
	})
}

// remember dates and erases notes, and adds the tick to past.
func (g *Game) remember(ctx context.Context, t world.Tick) error {
	err := g.Notes.ForEach(ctx, func(c store.Chunk[Note]) {
		for i := range c.Items {
			// The tick that first sees the note dates it: calls do not know their tick.
			if n := &c.Items[i]; n.Tick == 0 {
				n.Tick = t.Number
			} else if g.keep > 0 && n.Tick+g.keep < t.Number {
				c.Erase(i)
			}
		}
	})
	for _, p := range g.past.All() {
		p.Sum = (p.Sum ^ t.Seed) * 0x9e3779b97f4a7c15
	}
	return err
}
