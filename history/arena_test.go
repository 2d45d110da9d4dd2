package history_test

import (
	"context"
	"fmt"

	"handloom/history"
	"handloom/store"
	"handloom/world"
)

type (
	fighter struct{ X, Team, Deaths, Bullets int }
	hull    struct{ Left, Hit int }
	bullet  struct {
		Owner       store.Handle[fighter]
		X, DX, Life int
	}
	wound struct{ Target store.Handle[fighter] }
	order struct {
		By   store.Handle[fighter]
		Move int
	}
)

const (
	fighters  = 12
	chunkRows = 4
	fullHull  = 5
	manyHits  = 1_000_000 // more than a long play has
)

// An arena is a game of fighters who shoot at each other. In its systems "// fault NAME" marks
// the line of a fault.
type arena struct {
	*store.Store
	plant
	fighters *store.Table[fighter]
	hulls    *store.Column[fighter, hull]
	bullets  *store.Table[bullet]
	wounds   *store.Table[wound]
	orders   *store.Table[order]
	mine     store.Groups[bullet, fighter]
	frame    *store.Schedule
	impure   int
}

func newArena(workers int, p plant) *arena {
	a := &arena{Store: store.New(store.Options{Workers: workers, Seed: 1}), plant: p}
	a.fighters = store.Register(a.Store, store.TableOptions[fighter]{Name: "fighter", ChunkItems: chunkRows})
	a.hulls = store.AddColumn(a.fighters, store.ColumnOptions[hull]{Name: "hull"})
	a.bullets = store.Register(a.Store, store.TableOptions[bullet]{Name: "bullet", Shards: 2, ChunkItems: 2 * chunkRows})
	a.wounds = store.Register(a.Store, store.TableOptions[wound]{Name: "wound", Events: true})
	a.orders = store.Register(a.Store, store.TableOptions[order]{Name: "order", Events: true})
	type on = []store.Resource
	a.frame = store.NewSchedule(
		a.Store,
		store.System{Name: "fly", Writes: on{a.bullets}, Emits: on{a.bullets}, Run: a.fly},
		store.System{Name: "steer", Reads: on{a.orders}, Writes: on{a.fighters}, Emits: on{a.bullets}, Run: a.steer},
		store.System{Name: "hit", Reads: on{a.fighters, a.bullets}, Emits: on{a.fighters, a.bullets, a.wounds}, Run: a.hit},
		store.System{Name: "suffer", Reads: on{a.fighters, a.wounds}, Writes: on{a.hulls}, Run: a.takeDamage},
		store.System{Name: "rest", Reads: on{a.fighters}, Writes: on{a.hulls}, Run: a.rest},
		store.System{Name: "mend", Reads: on{a.fighters, a.hulls}, Emits: on{a.fighters, a.hulls}, Run: a.mend},
		store.System{Name: "count", Reads: on{a.bullets}, Writes: on{a.fighters}, Run: a.count},
	)
	return a
}

func (a *arena) game() (*store.Store, world.Options, history.Checks, error) {
	checks := history.Checks{"rules": a.rulesAreKept, "teams": a.teamsAreKept, "broken": func() error { panic("a broken check") }}
	return a.Store, world.Options{Version: "arena 1", Init: a.init, Tick: a.tick}, checks, nil
}

// teamsAreKept holds until a fault of field Team.
func (a *arena) teamsAreKept() error {
	for h, f := range a.fighters.All() {
		if f.Team >= 1000 {
			return fmt.Errorf("fighter %v: got team %d", h, f.Team)
		}
	}
	return nil
}

// rulesAreKept holds until a fault, unless that erases bullets.
func (a *arena) rulesAreKept() error {
	for h := range a.fighters.All() {
		if hit := a.hulls.At(h).Hit; hit < 0 || hit >= manyHits {
			return fmt.Errorf("fighter %v: got %d hits", h, hit)
		}
	}
	for h, b := range a.bullets.All() {
		if b.Life < 0 {
			return fmt.Errorf("bullet %v: got life %d", h, b.Life)
		}
	}
	if a.fighters.Len() != fighters {
		return fmt.Errorf("got %d fighters, want %d", a.fighters.Len(), fighters)
	}
	return a.teamsAreKept()
}

func (a *arena) init(_ context.Context, w *store.Writer) error {
	for n := range fighters {
		h := a.fighters.Insert(w, fighter{X: 10 * n, Team: n})
		a.hulls.At(h).Left = fullHull
	}
	return nil
}

func (a *arena) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	a.now = t.Number
	if a.is("panic") {
		panic("the roof falls in") // fault panic
	}
	if _, err := a.Flush(ctx); err != nil {
		return err
	}
	a.findCreated()
	for h, f := range a.fighters.All() {
		if a.is("between phases") {
			set(&a.plant, h.ID, &f.Team, 1000)
		}
		break
	}
	if a.is("insert") {
		a.note(a.fighters.Insert(w, fighter{Team: 1000}).ID, "", 1000) // fault insert
	}
	a.disturb()
	_, err := a.frame.Run(ctx)
	return err
}

func (a *arena) findCreated() {
	if a.name != "create" || a.now != a.plant.tick+1 {
		return
	}
	for h, b := range a.bullets.All() {
		if b.Life < -900 {
			a.note(h.ID, "", "")
		}
	}
}

// disturb breaks the rule that a tick is a function of state and input.
func (a *arena) disturb() {
	switch a.name {
	case "variable":
		a.impure++
	case "map order":
		for a.impure = range map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true} {
			break
		}
	default:
		return
	}
	for _, f := range a.fighters.All() {
		f.X += a.impure
		break
	}
}

func (a *arena) fly(ctx context.Context) error {
	return a.bullets.ForEach(ctx, func(c store.Chunk[bullet]) {
		erased := 0
		for i := range c.Items {
			b := &c.Items[i]
			b.X += b.DX
			b.Life--
			if b.Life == 0 {
				erased++
				c.Erase(i)
			}
		}
		if c.Index == 0 && a.is("erase by row") {
			for i := range c.Items {
				if c.Items[i].Life > 0 {
					a.note(c.Handle(i).ID, "", "")
					a.sequence = erased
					c.Erase(i)
					break
				}
			}
		}
	})
}

func (a *arena) steer(ctx context.Context) error {
	err := store.Fold(ctx, a.orders, a.fighters, func(o *order) store.Handle[fighter] { return o.By },
		func(f *fighter, o *order) { f.X += o.Move })
	if err != nil {
		return err
	}
	return a.fighters.ForEach(ctx, func(c store.Chunk[fighter]) {
		if c.Index == 1 && a.is("create") {
			a.bullets.Emplace(c.Queue, bullet{Life: -1000}) // fault create
		}
		if c.Index == 2 && a.is("for each") {
			set(&a.plant, c.Handle(1).ID, &c.Items[1].Team, 1000)
		}
		r := c.Queue.Rand()
		for i := range c.Items {
			if r.IntN(4) == 0 {
				a.bullets.Emplace(c.Queue, bullet{Owner: c.Handle(i), X: c.Items[i].X, DX: 2*r.IntN(2) - 1, Life: 1 + r.IntN(15)})
			}
		}
	})
}

func (a *arena) hit(ctx context.Context) error {
	return a.bullets.ForEachRows(ctx, func(r store.Chunk[bullet]) {
		if r.Index == 0 && a.is("erase all") {
			a.note(r.Handle(0).ID, "", "")
			a.bullets.EraseAll(r.Queue) // fault erase all
		}
		for i := range r.Items {
			b := &r.Items[i]
			for h, f := range a.fighters.All() {
				if h != b.Owner && f.X == b.X {
					a.wounds.Emplace(r.Queue, wound{Target: h})
				}
			}
			if i == 1 && r.Index == 0 && a.is("dangling link") {
				a.note(b.Owner.ID, "", "")
				a.fighters.Erase(r.Queue, b.Owner) // fault dangling link
			}
		}
	})
}

func (a *arena) takeDamage(context.Context) error {
	for _, w := range a.wounds.All() {
		if h, ok := a.hulls.Get(w.Target); ok {
			h.Left--
			h.Hit++
		}
	}
	for h := range a.fighters.All() {
		if a.is("in a system") {
			set(&a.plant, h.ID, &a.hulls.At(h).Hit, -1000)
		}
		break
	}
	return nil
}

func (a *arena) rest(ctx context.Context) error {
	return a.fighters.ForEachRows(ctx, func(r store.Chunk[fighter]) {
		hulls := a.hulls.Write(r)
		for i := range hulls {
			if hulls[i].Left > 0 && hulls[i].Left < fullHull && a.now%10 == 0 {
				hulls[i].Left++
			}
		}
		if r.Index == 0 && a.is("column") {
			set(&a.plant, r.Handle(2).ID, &hulls[2].Hit, -1000)
		}
		if r.Index == 0 && a.is("late") { // the wounds of an earlier tick
			set(&a.plant, r.Handle(3).ID, &hulls[3].Hit, hulls[3].Hit+manyHits)
		}
	})
}

func (a *arena) mend(ctx context.Context) error {
	return a.fighters.ForEachRows(ctx, func(r store.Chunk[fighter]) {
		if r.Index == 0 {
			a.mendWrongly(&r)
		}
		hulls := a.hulls.Read(r)
		for i := range r.Items {
			if hulls[i].Left <= 0 {
				next := r.Items[i]
				next.Deaths++
				a.fighters.Put(r.Queue, r.Handle(i), next)
				a.hulls.Set(r.Queue, r.Handle(i), hull{Left: fullHull})
			}
		}
	})
}

func (a *arena) mendWrongly(r *store.Chunk[fighter]) {
	h, next := r.Handle(1), r.Items[1]
	switch {
	case a.is("put"):
		set(&a.plant, h.ID, &next.Team, 1000)
		a.fighters.Put(r.Queue, h, next) // fault put
	case a.is("superseded put"):
		a.fighters.Put(r.Queue, h, fighter{Team: 7})
		set(&a.plant, h.ID, &next.Team, 1000)
		a.fighters.Put(r.Queue, h, next) // fault superseded put
	case a.is("erase by handle"):
		a.note(h.ID, "", "")
		a.fighters.Erase(r.Queue, h) // fault erase by handle
	case a.is("set"):
		wrong := *a.hulls.At(h)
		set(&a.plant, h.ID, &wrong.Hit, -1000)
		a.hulls.Set(r.Queue, h, wrong) // fault set
	}
}

func (a *arena) count(ctx context.Context) error {
	err := store.GroupBy(ctx, &a.mine, a.bullets, a.fighters, func(b *bullet) store.Handle[fighter] { return b.Owner })
	if err != nil {
		return err
	}
	return a.mine.ForEach(ctx, func(c store.GroupChunk[bullet, fighter]) {
		for i := range c.Owners.Items {
			c.Owners.Items[i].Bullets = c.Members(i).Len()
		}
		if c.Owners.Index == 1 && a.is("groups") {
			set(&a.plant, c.Owners.Handle(0).ID, &c.Owners.Items[0].Team, 1000)
		}
	})
}
