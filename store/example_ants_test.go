package store_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"handloom/store"
	"handloom/store/storetest"
)

// antNode is a place of the network.
type antNode struct {
	Count int // edges in Out
	Out   [8]store.Handle[antEdge]
}

// antEdge leads from one place to a neighbour. Walking ants add to its trails.
type antEdge struct {
	To                 store.Handle[antNode]
	Back               store.Handle[antEdge] // edge in the opposite direction
	Length             int
	FromNest, FromFood int // strength of the trails
}

// ant is an ant outside of the nest. The nest has the others.
type ant struct {
	Task  antTask
	Edge  store.Handle[antEdge]
	Pos   int // distance from the start of Edge
	Left  int // ticks until the ant returns without food
	Scent int // strength of its trail
	Load  int // food at the place it returns from; more food makes a stronger trail
}

type antTask uint8

const (
	antScouts  antTask = iota // walks at random
	antForages                // follows trails from food
	antReturns                // follows trails from the nest
)

// antMark is an event: a trail on an edge.
type antMark struct {
	Edge               store.Handle[antEdge]
	FromNest, FromFood int
}

// antMeal is an event: an ant takes food from a place or delivers it to the nest.
type antMeal struct{ At store.Handle[antNode] }

const (
	antColumns, antRows = 16, 12
	antCount            = 300
	antReleases         = 5       // ants that leave the nest per tick
	antSpeed            = 5       // per tick
	antSearch           = 160     // ticks
	antPatches          = 8       // places with food
	antFood             = 300     // amount in a new patch
	antScent            = 1 << 14 // at the nest and at food; small enough for an int of 32 bits
)

// colony follows the demo ants of github.com/mlange-42/arche-demo. Trails are events, because
// several ants may mark one edge in a tick, and ants in the nest are only counted.
type colony struct {
	*store.Store
	nodes  *store.Table[antNode]
	food   *store.Sparse[antNode, int]
	edges  *store.Table[antEdge]
	ants   *store.Table[ant]
	marks  *store.Table[antMark]
	meals  *store.Table[antMeal]
	stock  *store.Value[int]       // food in the nest
	places []store.Handle[antNode] // by row and column
	frame  *store.Schedule
}

func newColony(ctx context.Context, s *store.Store) (*colony, error) {
	c := &colony{Store: s}
	c.nodes = store.Register(s, store.TableOptions[antNode]{Name: "node"})
	c.food = store.AddSparse(c.nodes, store.ColumnOptions[int]{Name: "food"})
	c.edges = store.Register(s, store.TableOptions[antEdge]{Name: "edge"})
	c.ants = store.Register(s, store.TableOptions[ant]{Name: "ant", Shards: 2, ChunkItems: 64})
	c.marks = store.Register(s, store.TableOptions[antMark]{Name: "mark", Events: true})
	c.meals = store.Register(s, store.TableOptions[antMeal]{Name: "meal", Events: true})
	c.stock = store.AddValue(s, store.ColumnOptions[int]{Name: "stock"})
	type on = []store.Resource
	c.frame = store.NewSchedule(
		s,
		store.System{Name: "decay", Writes: on{c.edges}, Run: c.decay},
		store.System{Name: "release", Reads: on{c.nodes, c.edges, c.ants}, Emits: on{c.ants}, Run: c.release},
		store.System{Name: "walk", Reads: on{c.nodes, c.food, c.edges}, Writes: on{c.ants}, Emits: on{c.ants, c.marks, c.meals}, Run: c.walk},
		store.System{Name: "mark", Reads: on{c.marks}, Writes: on{c.edges}, Run: c.mark},
		store.System{Name: "eat", Reads: on{c.meals}, Writes: on{c.food, c.stock}, Run: c.eat},
		store.System{Name: "grow", Reads: on{c.food}, Emits: on{c.food}, Run: c.grow},
	)
	return c, s.Write(ctx, func(w *store.Writer) {
		for range antColumns * antRows {
			c.places = append(c.places, c.nodes.Insert(w, antNode{}))
		}
		for at := range c.places {
			for _, d := range [][2]int{{1, 0}, {0, 1}, {1, 1}, {-1, 1}} {
				x, y := at%antColumns+d[0], at/antColumns+d[1]
				if x >= 0 && x < antColumns && y < antRows {
					c.connect(w, c.places[at], c.places[y*antColumns+x], 10+4*(d[0]*d[1])*(d[0]*d[1]))
				}
			}
		}
	})
}

// connect adds the two edges between a and b.
func (c *colony) connect(w *store.Writer, a, b store.Handle[antNode], length int) {
	there := c.edges.Insert(w, antEdge{To: b, Length: length})
	back := c.edges.Insert(w, antEdge{To: a, Back: there, Length: length})
	c.edges.At(there).Back = back
	for _, out := range []store.Handle[antEdge]{there, back} {
		node := c.nodes.At(c.edges.At(c.edges.At(out).Back).To)
		node.Out[node.Count] = out
		node.Count++
	}
}

func (c *colony) nest() store.Handle[antNode] { return c.places[len(c.places)/2+antColumns/2] }

func (c *colony) decay(ctx context.Context) error {
	return c.edges.ForEach(ctx, func(k store.Chunk[antEdge]) {
		for _, e := range k.All() {
			e.FromNest, e.FromFood = e.FromNest*99/100, e.FromFood*99/100
		}
	})
}

// release sends ants out: one in ten as a scout, the others along the strongest trail.
func (c *colony) release(ctx context.Context) error {
	return c.Do(ctx, func(q store.Queue) {
		r, nest := q.Rand(), c.nodes.At(c.nest())
		for range min(antReleases, antCount-c.ants.Len()) {
			a := ant{Left: antSearch, Scent: antScent}
			if r.Uint32N(10) == 0 {
				a.Edge = nest.Out[r.Uint32N(uint32(nest.Count))]
			} else {
				strongest := 0
				for _, out := range nest.Out[:nest.Count] {
					if trail := c.fromFood(out); trail > strongest {
						a.Task, a.Edge, strongest = antForages, out, trail
					}
				}
				if strongest == 0 {
					continue
				}
			}
			c.ants.Emplace(q, a)
		}
	})
}

// fromFood and fromNest return the trails of ants that walked the edge in the opposite
// direction.
func (c *colony) fromFood(h store.Handle[antEdge]) int {
	return c.edges.At(c.edges.At(h).Back).FromFood
}

func (c *colony) fromNest(h store.Handle[antEdge]) int {
	return c.edges.At(c.edges.At(h).Back).FromNest
}

// follow draws an edge. The probability is proportional to the square of the trail. Without
// trails, and once in 20 times, all edges have the same probability.
func (c *colony) follow(r *rand.Rand, from *antNode, trail func(store.Handle[antEdge]) int) store.Handle[antEdge] {
	var weights [8]float64
	sum := 0.0
	for i, out := range from.Out[:from.Count] {
		strength := float64(trail(out))
		weights[i] = float64(strength * strength) // not fused, see guide/determinism.md
		sum += weights[i]
	}
	if sum > 0 && r.Uint32N(20) > 0 {
		at := float64(r.Float64() * sum)
		for i := range from.Count {
			if at -= weights[i]; at < 0 {
				return from.Out[i]
			}
		}
	}
	return from.Out[r.Uint32N(uint32(from.Count))]
}

func (c *colony) walk(ctx context.Context) error {
	return c.ants.ForEach(ctx, func(k store.Chunk[ant]) {
		r := k.Queue.Rand()
		for i, a := range k.All() {
			a.Pos += antSpeed
			a.Left--
			a.Scent = a.Scent * 95 / 100
			if edge := c.edges.At(a.Edge); a.Pos >= edge.Length {
				a.Pos -= edge.Length
				if home := c.arrive(k.Queue, r, a, edge); home {
					k.Erase(i)
				}
			}
		}
	})
}

// arrive marks the edge that the ant has walked, chooses its next edge, and reports whether the
// ant is in the nest.
func (c *colony) arrive(q store.Queue, r *rand.Rand, a *ant, edge *antEdge) (home bool) {
	node := c.nodes.At(edge.To)
	if a.Task == antReturns {
		c.marks.Emplace(q, antMark{Edge: a.Edge, FromFood: a.Scent / antFood * a.Load})
		a.Edge = c.follow(r, node, c.fromNest)
		if edge.To == c.nest() && a.Load > 0 {
			c.meals.Emplace(q, antMeal{At: edge.To})
		}
		return edge.To == c.nest()
	}
	c.marks.Emplace(q, antMark{Edge: a.Edge, FromNest: a.Scent})
	food, found := c.food.Get(edge.To)
	switch {
	case found || a.Left <= 0:
		a.Task, a.Scent = antReturns, antScent
		if found {
			a.Load = *food
			c.meals.Emplace(q, antMeal{At: edge.To})
		}
		a.Edge = c.follow(r, node, c.fromNest)
	case a.Task == antForages:
		a.Edge = c.follow(r, node, c.fromFood)
	default:
		for a.Edge = edge.Back; a.Edge == edge.Back; { // never back
			a.Edge = node.Out[r.Uint32N(uint32(node.Count))]
		}
	}
	return false
}

func (c *colony) mark(ctx context.Context) error {
	return store.Fold(ctx, c.marks, c.edges, func(m *antMark) store.Handle[antEdge] { return m.Edge },
		func(e *antEdge, m *antMark) { e.FromNest, e.FromFood = e.FromNest+m.FromNest, e.FromFood+m.FromFood })
}

func (c *colony) eat(context.Context) error {
	for _, meal := range c.meals.All() {
		if meal.At == c.nest() {
			*c.stock.Get()++
		} else if food, ok := c.food.Get(meal.At); ok {
			*food--
		}
	}
	return nil
}

// grow removes empty patches and adds full ones elsewhere.
func (c *colony) grow(ctx context.Context) error {
	return c.Do(ctx, func(q store.Queue) {
		patches, r := 0, q.Rand()
		for h, food := range c.food.All() {
			if patches++; *food <= 0 {
				patches--
				c.food.Unset(q, h)
			}
		}
		for patches < antPatches {
			if h := c.places[r.Uint32N(uint32(len(c.places)))]; h != c.nest() && !c.food.Has(h) {
				patches++
				c.food.Set(q, h, antFood)
			}
		}
	})
}

// Ants: a network of nodes and edges, ants that walk it, trails as events, food as sparse data.
func Example_ants() {
	ctx := context.Background()
	c, err := newColony(ctx, store.New(store.Options{Seed: 1}))
	if err != nil {
		panic(err)
	}
	// region team
	err = c.Team(ctx, func(ctx context.Context) error { // workers spin between frames
		for tick := 1; tick <= 500; tick++ {
			if _, err := c.frame.Run(ctx); err != nil {
				return err
			}
			if tick%100 == 0 {
				fmt.Printf("tick %d: %d ants are out, the nest has %d food\n", tick, c.ants.Len(), *c.stock.Get())
			}
		}
		return nil
	})
	// endregion
	fmt.Println(err)
	// Output:
	// tick 100: 141 ants are out, the nest has 195 food
	// tick 200: 192 ants are out, the nest has 642 food
	// tick 300: 297 ants are out, the nest has 784 food
	// tick 400: 298 ants are out, the nest has 1071 food
	// tick 500: 295 ants are out, the nest has 1222 food
	// <nil>
}

func TestAnts_AreDeterministic(t *testing.T) {
	setup := func(s *store.Store) (func(ctx context.Context, tick int) error, error) {
		c, err := newColony(t.Context(), s)
		return func(ctx context.Context, tick int) error {
			_, err := c.frame.Run(ctx)
			return err
		}, err
	}
	o := storetest.Options{Frames: 50, Store: store.Options{Seed: 1}}
	if testing.Short() {
		o.Frames = 10
	}
	storetest.Run(t, o, setup)
	storetest.Reopen(t, o, setup)
}
