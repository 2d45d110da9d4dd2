// Package swarm is the program of the playground: some thousand motes that follow their
// neighbours, die and are born. It uses only integers, so its states are the same on every
// machine, also in a browser.
package swarm

import (
	"context"
	"errors"
	"time"

	"handloom/store"
	"handloom/tasks"
)

// Places are in parts of a pixel. The plane is a torus of squares.
const (
	Unit    = 256
	side    = 24 // pixels per side of a square
	columns = 40
	rows    = 22
	Width   = columns * side
	Height  = rows * side
)

// A Mote moves with the motes around it until its life ends. Place, course and life are
// columns.
type Mote struct {
	Square store.Handle[Square]
	Seed   uint32 // seed of its random numbers
}

// A Vector is a place, or a movement per tick.
type Vector struct{ X, Y int32 }

// A Square is a square of the plane with the sums over its motes.
type Square struct {
	N             int32
	Place, Course Vector // sums, in pixels and in parts of a pixel
}

// An Act is an action of a person: it erases a mote or, without one, kills the motes
// around a pixel or creates some there.
type Act struct {
	Erase store.Handle[Mote]
	Kill  bool // false: motes are born
	X, Y  int  // pixel
}

// Swarm is a store of motes with its systems.
type Swarm struct {
	Store   *store.Store
	Motes   *store.Table[Mote]
	Places  *store.Column[Mote, Vector]
	Courses *store.Column[Mote, Vector]
	Lives   *store.Column[Mote, int32] // ticks left
	Frame   *store.Schedule
	Flushes []Flushed                   // flushes of the last tick
	next    *store.Column[Mote, Vector] // places after the tick
	squares *store.Table[Square]
	at      [rows][columns]store.Handle[Square] // written once
	near    store.Groups[Mote, Square]
	tick    int   // number of the current tick
	acts    []Act // acts of the current tick
}

// Flushed is the report and the duration of a flush.
type Flushed struct {
	Says string
	Took time.Duration
}

// New returns a swarm of n motes.
func New(ctx context.Context, n int) (w *Swarm, err error) {
	s := store.New(store.Options{AfterFlush: func(r *store.Report) {
		if w != nil {
			w.Flushes = append(w.Flushes, Flushed{r.String(), r.Plan + r.Apply})
		}
	}})
	if w, err = register(s); err != nil {
		return nil, err
	}
	return w, w.begin(ctx, n)
}

// register adds the tables, columns and systems of a swarm to s.
func register(s *store.Store) (w *Swarm, err error) {
	w = &Swarm{Store: s}
	w.Motes = store.Register(s, store.TableOptions[Mote]{Name: "mote", Shards: 4})
	w.squares = store.Register(s, store.TableOptions[Square]{Name: "square", ChunkItems: 64})
	for _, c := range []struct {
		name   string
		column **store.Column[Mote, Vector]
	}{{"place", &w.Places}, {"next", &w.next}, {"course", &w.Courses}} {
		*c.column = store.AddColumn(w.Motes, store.ColumnOptions[Vector]{Name: c.name})
	}
	w.Lives = store.AddColumn(w.Motes, store.ColumnOptions[int32]{Name: "life"})
	type on = []store.Resource
	born := on{w.Motes, w.Places, w.Courses, w.Lives}
	w.Frame = store.NewSchedule(
		s,
		store.System{Name: "live", Reads: on{w.Lives, w.Places}, Emits: born, Run: w.live},
		store.System{Name: "hand", Emits: born, Run: w.hand},
		store.System{Name: "gather", Reads: on{w.Places, w.Courses}, Writes: on{w.squares}, Run: w.gather},
		store.System{Name: "age", Writes: on{w.Lives}, Run: w.age},
		store.System{Name: "steer", Reads: on{w.squares, w.Places}, Writes: on{w.Courses, w.next}, Run: w.steer},
		store.System{Name: "advance", Writes: on{w.Places, w.next}, Run: w.advance},
		store.System{Name: "square", Reads: on{w.Places}, Writes: on{w.Motes}, Run: w.setSquares},
	)
	return w, nil
}

// begin creates the squares and n motes.
func (w *Swarm) begin(ctx context.Context, n int) error {
	_, err := w.Store.Frame(ctx, func(ctx context.Context, writer *store.Writer) error {
		for row := range rows {
			for column := range columns {
				w.at[row][column] = w.squares.Insert(writer, Square{})
			}
		}
		return w.Store.Do(ctx, func(q store.Queue) {
			for i := range n {
				h := w.born(q, uint32(i)*2654435761+1)
				w.Lives.Set(q, h, 1+int32(i)%600) // not all die at once
			}
		})
	})
	return err
}

// random returns the next random number below n.
func random(seed *uint32, n int32) int32 {
	*seed ^= *seed << 13
	*seed ^= *seed >> 17
	*seed ^= *seed << 5
	return int32(*seed % uint32(n))
}

// born records a mote somewhere on the plane.
func (w *Swarm) born(q store.Queue, seed uint32) store.Handle[Mote] {
	seed |= 1 // 0 would yield only 0
	place := Vector{random(&seed, Width*Unit), random(&seed, Height*Unit)}
	return w.bornAt(q, place, seed)
}

func (w *Swarm) bornAt(q store.Queue, place Vector, seed uint32) store.Handle[Mote] {
	course := Vector{random(&seed, 2*Unit) - Unit, random(&seed, 2*Unit) - Unit}
	life := 300 + random(&seed, 600)
	h := w.Motes.Emplace(q, Mote{Square: w.squareAt(place), Seed: seed})
	w.Places.Set(q, h, place)
	w.Courses.Set(q, h, course)
	w.Lives.Set(q, h, life)
	return h
}

func (w *Swarm) squareAt(p Vector) store.Handle[Square] {
	return w.at[p.Y/(side*Unit)][p.X/(side*Unit)]
}

// Tick plays tick number tick with the given workers. The tick number and the acts are
// input: random numbers depend on tick.
func (w *Swarm) Tick(ctx context.Context, workers, tick int, acts []Act) error {
	w.tick, w.acts, w.Flushes = tick, acts, w.Flushes[:0]
	return tasks.WithTeam(ctx, workers, func(ctx context.Context) error {
		_, err := w.Frame.Run(ctx)
		return err
	})
}

// gather sums up the motes of each square.
func (w *Swarm) gather(ctx context.Context) error {
	err := store.GroupBy(ctx, &w.near, w.Motes, w.squares, func(m *Mote) store.Handle[Square] { return m.Square })
	return errors.Join(err, w.near.ForEach(ctx, func(c store.GroupChunk[Mote, Square]) {
		for i := range c.Owners.Items {
			motes := c.Members(i)
			sum := Square{N: int32(motes.Len())}
			for k := range motes.Len() {
				place, course := w.Places.Member(motes, k), w.Courses.Member(motes, k)
				sum.Place.X += place.X / Unit
				sum.Place.Y += place.Y / Unit
				sum.Course.X += course.X
				sum.Course.Y += course.Y
			}
			c.Owners.Items[i] = sum
		}
	}))
}

// age subtracts a tick from every life.
func (w *Swarm) age(ctx context.Context) error {
	return w.Motes.ForEachRows(ctx, func(c store.Chunk[Mote]) {
		lives := w.Lives.Write(c)
		for i := range lives {
			lives[i]--
		}
	})
}

// crowd is the number of motes that crowds a square.
const crowd = 48

// steer moves each mote along with its square, away from the middle of a crowd, and away
// from a mote that is too near. It reads all places and writes the next places of its own
// motes.
func (w *Swarm) steer(ctx context.Context) error {
	tick := uint32(w.tick) * 2654435761
	return w.Motes.ForEachRows(ctx, func(c store.Chunk[Mote]) {
		places, courses, next := w.Places.Read(c), w.Courses.Write(c), w.next.Write(c)
		for i := range c.Items {
			m := &c.Items[i]
			seed := (m.Seed ^ tick) | 1
			p, v := places[i], courses[i]
			if q := w.squares.At(m.Square); q.N > 1 {
				v.X += (q.Course.X/q.N - v.X) / 8
				v.Y += (q.Course.Y/q.N - v.Y) / 8
				pull := int32(Unit / 32)
				if q.N > crowd {
					pull = -pull
				}
				v.X += pull * (q.Place.X/q.N - p.X/Unit) / side
				v.Y += pull * (q.Place.Y/q.N - p.Y/Unit) / side
				others := w.near.Of(m.Square)
				away := apart(p, *w.Places.Member(others, int(random(&seed, q.N))))
				v.X += away.X
				v.Y += away.Y
			}
			v.X = clamp(v.X + random(&seed, 65) - 32)
			v.Y = clamp(v.Y + random(&seed, 65) - 32)
			courses[i] = v
			next[i] = Vector{wrap(p.X+v.X, Width*Unit), wrap(p.Y+v.Y, Height*Unit)}
		}
	})
}

// distance is the minimum distance of motes.
const distance = 6 * Unit

// apart returns the movement away from another mote that is too near.
func apart(p, o Vector) Vector {
	dx, dy := p.X-o.X, p.Y-o.Y
	if max(dx, -dx)+max(dy, -dy) > distance {
		return Vector{}
	}
	return Vector{dx / 8, dy / 8}
}

// advance makes the next places the current ones.
func (w *Swarm) advance(ctx context.Context) error { return store.Exchange(ctx, w.Places, w.next) }

// setSquares sets the square of each mote.
func (w *Swarm) setSquares(ctx context.Context) error {
	return w.Motes.ForEach(ctx, func(c store.Chunk[Mote]) {
		places := w.Places.Read(c)
		for i := range c.Items {
			c.Items[i].Square = w.squareAt(places[i])
		}
	})
}

func clamp(v int32) int32 { return max(-2*Unit, min(2*Unit, v)) }

func wrap(v, n int32) int32 { return (v + n) % n }

// live erases old motes, and creates a mote for each, and erases motes near a killing act.
func (w *Swarm) live(ctx context.Context) error {
	return w.Motes.ForEachRows(ctx, func(c store.Chunk[Mote]) {
		places, lives := w.Places.Read(c), w.Lives.Read(c)
		for i := range c.Items {
			if lives[i] <= 0 {
				c.Erase(i)
				w.born(c.Queue, c.Items[i].Seed)
			} else if w.killed(places[i]) {
				c.Erase(i)
			}
		}
	})
}

// reach is the radius of a killing act, newborn the number of motes that a creating act
// creates.
const (
	reach   = 30
	newborn = 200
)

// hand records the creates and the erases by handle of a person.
func (w *Swarm) hand(ctx context.Context) error {
	return w.Store.Each(ctx, len(w.acts), func(task int, q store.Queue) {
		switch a := w.acts[task]; {
		case !a.Erase.ID.IsZero():
			w.Motes.Erase(q, a.Erase)
		case !a.Kill:
			at := Vector{wrap(int32(a.X)*Unit, Width*Unit), wrap(int32(a.Y)*Unit, Height*Unit)}
			for i := range newborn {
				w.bornAt(q, at, (uint32(w.tick)*7919+uint32(i)*104729+uint32(task)*31)|1)
			}
		}
	})
}

func (w *Swarm) killed(p Vector) bool {
	for _, a := range w.acts {
		dx, dy := int(p.X/Unit)-a.X, int(p.Y/Unit)-a.Y
		if a.Kill && dx*dx+dy*dy < reach*reach {
			return true
		}
	}
	return false
}
