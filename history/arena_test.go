package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

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
	post struct{ Color int }
)

const (
	fighters  = 12
	posts     = 3
	chunkRows = 4
	fullHull  = 5
	manyHits  = 1_000_000 // more than a long play has
)

// A plant is a fault of an arena in one tick. The arena notes the truth about it.
type plant struct {
	name    string
	tick    uint64
	version string        // of the program; "": arena 1
	idle    time.Duration // between records; 0: each tick has one

	now      uint64 // the current tick
	item     store.ID
	from, to string // of the field
	sequence int    // number of the command, if the table of faults has none
}

func (p *plant) is(name string) bool { return p.name == name && p.now == p.tick }

func (p *plant) note(id store.ID, from, to any) {
	p.item, p.from, p.to = id, fmt.Sprint(from), fmt.Sprint(to)
}

// set sets a field and notes it.
func set[T any](p *plant, id store.ID, field *T, to T) {
	p.note(id, *field, to)
	*field = to
}

// game returns the program with the fault.
func (p *plant) game() Game {
	return Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		a := newArena(workers, *p)
		checks := Checks{"rules": a.rulesAreKept, "teams": a.teamsAreKept, "broken": func() error { panic("a broken check") }}
		return a.Store, a.options(), checks, nil
	}}
}

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
	posts    *store.StableTable[post]
	ammo     *store.Sparse[post, int]
	labels   *store.Sparse[post, string]
	kinds    *store.Table[kinds]
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
	a.posts = store.RegisterStable(a.Store, store.TableOptions[post]{Name: "post"})
	a.ammo = store.AddSparse(a.posts, store.ColumnOptions[int]{Name: "ammo"})
	a.labels = store.AddSparse(a.posts, store.ColumnOptions[string]{Name: "label"})
	kept := func(to, from *kinds) { *to = *from } // nothing writes to lists and maps
	a.kinds = store.Register(a.Store, store.TableOptions[kinds]{Name: "kinds", Clone: kept})
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
		store.System{Name: "supply", Reads: on{a.ammo}, Writes: on{a.posts}, Emits: on{a.posts, a.ammo}, Run: a.supply},
	)
	return a
}

func (a *arena) options() world.Options {
	return world.Options{Version: cmp.Or(a.version, "arena 1"), Init: a.init, Tick: a.tick, Hz: 60, Idle: cmp.Or(a.idle, 1)}
}

// head returns the first item.
func head[T, V any](all iter.Seq2[store.Handle[T], *V]) (store.Handle[T], *V) {
	for h, v := range all {
		return h, v
	}
	panic("got no item")
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

// rulesAreKept holds until a fault, unless that erases bullets or takes ammo.
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
	for h, n := range a.ammo.All() {
		if color := a.posts.At(h).Color; *n < 0 || color != 0 {
			return fmt.Errorf("post %v: got %d ammo and color %d", h, *n, color)
		}
	}
	for h, k := range a.kinds.All() {
		if k.Of == h {
			return fmt.Errorf("%+v", *k)
		}
	}
	if a.fighters.Len() != fighters || a.posts.Len() != posts {
		return fmt.Errorf("got %d fighters and %d posts, want %d and %d", a.fighters.Len(), a.posts.Len(), fighters, posts)
	}
	return a.teamsAreKept()
}

func (a *arena) init(_ context.Context, w *store.Writer) error {
	for n := range fighters {
		h := a.fighters.Insert(w, fighter{X: 10 * n, Team: n})
		a.hulls.At(h).Left = fullHull
	}
	for n := range posts {
		h := a.posts.Insert(w, post{})
		a.ammo.Put(w, h, n)
		a.labels.Put(w, h, "north")
	}
	return nil
}

func (a *arena) tick(ctx context.Context, w *store.Writer, t world.Tick) error {
	a.now = t.Number
	if a.is("panic") {
		panic("the roof falls in")
	}
	if _, err := a.Flush(ctx); err != nil {
		return err
	}
	for h, b := range a.bullets.All() {
		if a.name == "create" && a.now == a.plant.tick+1 && b.Life < -900 {
			a.note(h.ID, "", "")
		}
	}
	h, f := head(a.fighters.All())
	switch {
	case a.is("between phases"):
		set(&a.plant, h.ID, &f.Team, 1000)
	case a.is("insert"):
		a.note(a.fighters.Insert(w, fighter{Team: 1000}).ID, "", 1000) // fault insert
	case a.is("remove"):
		p, n := head(a.ammo.All())
		a.note(p.ID, *n, "")
		a.ammo.Remove(w, p) // fault remove
	// The tick is no longer a function of state and input.
	case a.name == "variable":
		a.impure++
		f.X += a.impure
	case a.name == "map order":
		for n := range map[int]bool{0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true} {
			f.X += n
			break
		}
	}
	if _, err := a.frame.Run(ctx); err != nil {
		return err
	}
	return a.end(ctx, w)
}

// end makes faults that compared states show.
func (a *arena) end(ctx context.Context, w *store.Writer) error {
	h, f := head(a.fighters.All())
	switch {
	case a.is("heals"):
		f.Team += 1000
	case a.name == "heals" && a.now == a.plant.tick+1:
		f.Team -= 1000
	case a.is("rows"):
		return store.SortFunc(ctx, a.fighters, w, func(a, b *fighter) int { return b.Team - a.Team })
	case a.is("turn"):
		return a.apply(ctx, func(store.Queue) {})
	case a.is("slots"):
		wrong := a.wounds.Insert(w, wound{})
		return a.apply(ctx, func(q store.Queue) { a.wounds.Erase(q, wrong) })
	case a.is("flushes"):
		return a.apply(ctx, func(q store.Queue) { a.fighters.Put(q, h, *f) })
	case a.name == "guarded" && a.teamsAreKept() != nil:
		for _, b := range a.bullets.All() {
			if b.Life > 900 {
				return nil
			}
		}
		return errors.New("got a wrong team without a bullet of a long life")
	}
	return nil
}

// apply records and flushes commands.
func (a *arena) apply(ctx context.Context, record func(q store.Queue)) error {
	return errors.Join(a.Do(ctx, record), second(a.Flush(ctx)))
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
	err := store.Fold(ctx, a.orders, a.fighters, func(o *order) store.Handle[fighter] { return o.By }, // fault fold
		func(f *fighter, o *order) {
			if f.X += o.Move; a.is("fold") {
				set(&a.plant, o.By.ID, &f.Team, 1000)
			}
		})
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
	if h, _ := head(a.fighters.All()); a.is("in a system") {
		set(&a.plant, h.ID, &a.hulls.At(h).Hit, -1000)
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

// supply is a pass over a stable table and a task.
func (a *arena) supply(ctx context.Context) error {
	err := a.posts.ForEach(ctx, func(c store.StableChunk[post]) {
		if h, p := head(c.All()); a.is("stable") {
			set(&a.plant, h.ID, &p.Color, 5000)
		}
	})
	return errors.Join(err, a.Do(ctx, func(q store.Queue) {
		switch h, n := head(a.ammo.All()); {
		case a.is("unset"):
			a.note(h.ID, *n, "")
			a.ammo.Unset(q, h) // fault unset
		case a.is("wrong set"):
			a.note(h.ID, *n, -1000)
			a.ammo.Set(q, h, -1000) // fault wrong set
		case a.is("lost post"):
			a.note(h.ID, "", "")
			a.posts.Erase(q, h) // fault lost post
		case a.now%20 == 0:
			a.ammo.Set(q, h, *n+1)
		}
	}))
}
