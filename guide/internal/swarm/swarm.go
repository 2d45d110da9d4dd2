// Package swarm is the program that the playground shows: some thousand motes that
// look at their neighbours, die and are born again. It counts in whole numbers, so
// that it comes to the same state on every machine, in a browser as elsewhere.
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
	side    = 24 // of a square, in pixels
	columns = 40
	rows    = 22
	Width   = columns * side
	Height  = rows * side
)

// A Mote moves with those around it until its life ends. Where it is, where it goes and
// how long it has lies in columns.
type Mote struct {
	Square store.Handle[Square]
	Seed   uint32 // of what is random about it
}

// A Vector is a place, or a way to go in a tick.
type Vector struct{ X, Y int32 }

// A Square is a part of the plane, with what the motes in it do together.
type Square struct {
	N             int32
	Place, Course Vector // sums: in pixels, and in parts of one
}

// An Act is what a person did in a tick: to Erase a mote or, without one, to kill those
// around a pixel, or to have some born there.
type Act struct {
	Erase store.Handle[Mote]
	Kill  bool // else motes are born
	X, Y  int  // pixel
}

// Swarm is a store of motes and the systems that move it on.
type Swarm struct {
	Store   *store.Store
	Motes   *store.Table[Mote]
	Places  *store.Column[Mote, Vector]
	Courses *store.Column[Mote, Vector]
	Lives   *store.Column[Mote, int32] // ticks left
	Frame   *store.Schedule
	Flushes []Flushed                   // of the last tick
	next    *store.Column[Mote, Vector] // places to come
	squares *store.Table[Square]
	at      [rows][columns]store.Handle[Square] // written once
	near    store.Groups[Mote, Square]
	tick    int   // that is played
	acts    []Act // of that tick
}

// Flushed is what a flush did, in words, and how long it took.
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
	if w, err = of(s); err != nil {
		return nil, err
	}
	return w, w.begin(ctx, n)
}

// of makes the tables, columns and systems of a swarm in s.
func of(s *store.Store) (w *Swarm, err error) {
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
		store.System{Name: "turn", Writes: on{w.Places, w.next}, Run: w.turn},
		store.System{Name: "settle", Reads: on{w.Places}, Writes: on{w.Motes}, Run: w.settle},
	)
	return w, nil
}

// begin makes the squares, and n motes.
func (w *Swarm) begin(ctx context.Context, n int) error {
	err := w.Store.Write(ctx, func(_ context.Context, writer *store.Writer) (err error) {
		for row := range rows {
			for column := range columns {
				if w.at[row][column], err = w.squares.Insert(writer, Square{}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = w.Store.Do(ctx, func(q store.Queue) {
		for i := range n {
			h := w.born(q, uint32(i)*2654435761+1)
			w.Lives.Set(q, h, 1+int32(i)%600) // so that not all die at once
		}
	})
	if err != nil {
		return err
	}
	_, err = w.Store.Flush(ctx)
	return err
}

// random returns the next of the numbers that a seed gives, below n.
func random(seed *uint32, n int32) int32 {
	*seed ^= *seed << 13
	*seed ^= *seed >> 17
	*seed ^= *seed << 5
	return int32(*seed % uint32(n))
}

// born records a mote somewhere on the plane.
func (w *Swarm) born(q store.Queue, seed uint32) store.Handle[Mote] {
	seed |= 1 // 0 gives nothing else
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

// Tick plays the tick of the given number, with a number of workers. Both the number
// and the acts are input: random numbers depend on the number.
func (w *Swarm) Tick(ctx context.Context, workers, tick int, acts []Act) error {
	w.tick, w.acts, w.Flushes = tick, acts, w.Flushes[:0]
	return tasks.WithTeam(ctx, workers, func(ctx context.Context) error {
		return w.Store.Write(ctx, func(ctx context.Context, _ *store.Writer) error {
			_, err := w.Frame.Run(ctx)
			return err
		})
	})
}

// gather sums up, for each square, the motes in it.
func (w *Swarm) gather(ctx context.Context) error {
	err := store.GroupBy(ctx, &w.near, w.Motes, w.squares, func(m *Mote) store.Handle[Square] { return m.Square })
	return errors.Join(err, w.near.ForEach(ctx, func(c store.GroupChunk[Mote, Square]) {
		for i := range c.Owners {
			motes := c.Members(i)
			sum := Square{N: int32(motes.Len())}
			for k := range motes.Len() {
				place, course := w.Places.Member(motes, k), w.Courses.Member(motes, k)
				sum.Place.X += place.X / Unit
				sum.Place.Y += place.Y / Unit
				sum.Course.X += course.X
				sum.Course.Y += course.Y
			}
			c.Owners[i] = sum
		}
	}))
}

// age takes a tick off every life.
func (w *Swarm) age(ctx context.Context) error {
	return w.Motes.ForEachRows(ctx, func(c store.Rows[Mote]) {
		lives := w.Lives.Write(c)
		for i := range lives {
			lives[i]--
		}
	})
}

// crowd is how many motes in a square are too many.
const crowd = 48

// steer has each mote go with those of its square, away from their middle where they
// are many, and away from another one that is too near. It reads the places of others and
// writes where its own motes will be.
func (w *Swarm) steer(ctx context.Context) error {
	tick := uint32(w.tick) * 2654435761
	return w.Motes.ForEachRows(ctx, func(c store.Rows[Mote]) {
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

// distance is how far motes keep from each other.
const distance = 6 * Unit

// apart is where to go from another mote, if it is too near.
func apart(p, o Vector) Vector {
	dx, dy := p.X-o.X, p.Y-o.Y
	if max(dx, -dx)+max(dy, -dy) > distance {
		return Vector{}
	}
	return Vector{dx / 8, dy / 8}
}

// turn makes the places to come those that there are.
func (w *Swarm) turn(ctx context.Context) error { return store.Exchange(ctx, w.Places, w.next) }

// settle has each mote name the square that it is in.
func (w *Swarm) settle(ctx context.Context) error {
	return w.Motes.ForEach(ctx, func(c store.Chunk[Mote]) {
		places := w.Places.Rows(c)
		for i := range c.Items {
			c.Items[i].Square = w.squareAt(places[i])
		}
	})
}

func clamp(v int32) int32 { return max(-2*Unit, min(2*Unit, v)) }

func wrap(v, n int32) int32 { return (v + n) % n }

// live has motes die of age, each for another one, or of a person's hand.
func (w *Swarm) live(ctx context.Context) error {
	return w.Motes.ForEachRows(ctx, func(c store.Rows[Mote]) {
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

// reach is how far from a person's hand motes are killed, and newborn are how many
// appear there.
const (
	reach   = 30
	newborn = 200
)

// hand records what a person had born, and erased by handle.
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
