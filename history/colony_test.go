package history_test

import (
	"context"
	"fmt"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

type (
	node struct {
		Next         [3]store.Handle[node]
		Trail, Color int
	}
	ant struct {
		At   store.Handle[node]
		Load int
		Age  int
		Mood int
	}
	trail struct{ On store.Handle[node] }
)

const (
	nodes  = 40
	maxAge = 60
	patch  = 30 // food of a new patch
)

// A colony is a game of ants on a network, with a stable table, sparse data and events.
type colony struct {
	*store.Store
	plant
	nodes  *store.StableTable[node]
	food   *store.Sparse[node, int]
	ants   *store.Table[ant]
	trails *store.Table[trail]
	frame  *store.Schedule
}

func newColony(workers int, p plant) *colony {
	c := &colony{Store: store.New(store.Options{Workers: workers, Seed: 1}), plant: p}
	c.nodes = store.RegisterStable(c.Store, store.TableOptions[node]{Name: "node"})
	c.food = store.AddSparse(c.nodes, store.ColumnOptions[int]{Name: "food"})
	c.ants = store.Register(c.Store, store.TableOptions[ant]{Name: "ant", Shards: 2, ChunkItems: chunkRows})
	c.trails = store.Register(c.Store, store.TableOptions[trail]{Name: "trail", Events: true})
	type on = []store.Resource
	c.frame = store.NewSchedule(
		c.Store,
		store.System{Name: "decay", Writes: on{c.nodes}, Run: c.decay},
		store.System{Name: "release", Reads: on{c.nodes, c.ants}, Emits: on{c.ants}, Run: c.release},
		store.System{Name: "walk", Reads: on{c.nodes, c.food}, Writes: on{c.ants}, Emits: on{c.ants, c.trails, c.nodes}, Run: c.walk},
		store.System{Name: "mark", Reads: on{c.trails}, Writes: on{c.nodes}, Run: c.mark},
		store.System{Name: "grow", Reads: on{c.nodes, c.food}, Emits: on{c.food}, Run: c.grow},
	)
	return c
}

func (c *colony) game() (*store.Store, world.Options, history.Checks, error) {
	return c.Store, world.Options{Version: "colony 1", Init: c.init, Tick: c.tick}, history.Checks{"rules": c.rulesAreKept}, nil
}

// rulesAreKept holds until a fault, unless that takes food.
func (c *colony) rulesAreKept() error {
	for h, amount := range c.food.All() {
		if *amount < 0 {
			return fmt.Errorf("node %v: got %d food", h, *amount)
		}
	}
	for h, n := range c.nodes.All() {
		if n.Color != 0 {
			return fmt.Errorf("node %v: got color %d", h, n.Color)
		}
	}
	for h, a := range c.ants.All() {
		if a.Mood < 0 {
			return fmt.Errorf("ant %v: got mood %d", h, a.Mood)
		}
	}
	if c.nodes.Len() != nodes {
		return fmt.Errorf("got %d nodes, want %d", c.nodes.Len(), nodes)
	}
	return nil
}

func (c *colony) init(_ context.Context, w *store.Writer) error {
	all := make([]store.Handle[node], nodes)
	for i := range all {
		all[i] = c.nodes.Insert(w, node{})
	}
	for i, h := range all {
		c.nodes.At(h).Next = [3]store.Handle[node]{all[(i+1)%nodes], all[(i+7)%nodes], all[(i+nodes-3)%nodes]}
	}
	return nil
}

func (c *colony) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	c.now = t.Number
	if _, err := c.Flush(ctx); err != nil {
		return err
	}
	for h, a := range c.ants.All() {
		if c.name == "twin" && c.now == c.plant.tick+1 && a.Mood < -900 {
			c.note(h.ID, "", -1000)
		}
	}
	for h, amount := range c.food.All() {
		if c.is("remove") {
			c.note(h.ID, *amount, "")
			c.food.Remove(w, h) // fault remove
		}
		break
	}
	_, err := c.frame.Run(ctx)
	return err
}

func (c *colony) decay(ctx context.Context) error {
	return c.nodes.ForEach(ctx, func(k store.StableChunk[node]) {
		for h, n := range k.All() {
			if k.Index == 0 && c.is("stable") {
				set(&c.plant, h.ID, &n.Color, 5000)
				return
			}
			n.Trail = n.Trail * 9 / 10
		}
	})
}

func (c *colony) release(ctx context.Context) error {
	return c.Do(ctx, func(q store.Queue) {
		for h := range c.nodes.All() {
			if c.is("twin") {
				c.ants.Emplace(q, ant{At: h, Mood: -1000}) // fault twin
				return
			}
			if c.ants.Len() < 30 {
				c.ants.Emplace(q, ant{At: h})
			}
			return
		}
	})
}

func (c *colony) walk(ctx context.Context) error {
	return c.ants.ForEach(ctx, func(k store.Chunk[ant]) {
		if k.Index == 0 && c.is("mistaken ant") {
			set(&c.plant, k.Handle(0).ID, &k.Items[0].Mood, -1000)
		}
		r := k.Queue.Rand()
		for i, a := range k.All() {
			n, ok := c.nodes.Get(a.At)
			if a.Age++; a.Age > maxAge || !ok {
				k.Erase(i)
				continue
			}
			if c.food.Has(a.At) {
				a.Load++
			}
			c.trails.Emplace(k.Queue, trail{On: a.At})
			a.At = n.Next[r.IntN(3)]
		}
		if k.Index == 1 && c.is("lost node") {
			c.note(k.Items[0].At.ID, "", "")
			c.nodes.Erase(k.Queue, k.Items[0].At) // fault lost node
		}
	})
}

func (c *colony) mark(ctx context.Context) error {
	return store.Fold(ctx, c.trails, c.nodes, func(t *trail) store.Handle[node] { return t.On }, func(n *node, t *trail) {
		n.Trail += 10
	})
}

// grow moves the food.
func (c *colony) grow(ctx context.Context) error {
	return c.Do(ctx, func(q store.Queue) {
		r := q.Rand()
		for h, amount := range c.food.All() {
			if c.is("unset") {
				c.note(h.ID, *amount, "")
				c.food.Unset(q, h) // fault unset
				return
			}
			if c.is("wrong set") {
				c.note(h.ID, *amount, -1000)
				c.food.Set(q, h, -1000) // fault wrong set
				return
			}
		}
		for h := range c.nodes.All() {
			if r.IntN(nodes) == 0 {
				c.food.Set(q, h, patch)
			}
		}
	})
}
