// Package swarm is the program that the playground shows: some thousand motes that
// look at their neighbours, die and are born again. It counts in whole numbers, so
// that it comes to the same state on every machine, in a browser as elsewhere.
package swarm

import (
	"context"
	"errors"

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

// A Mote moves with those around it until its life ends.
type Mote struct {
	X, Y, VX, VY int32
	Life         int32 // ticks left
	Seed         uint32
	Square       store.Handle[Square]
}

// A Square is a part of the plane, with what the motes in it do together.
type Square struct{ N, X, Y, VX, VY int32 }

// An Act is what a person did in a tick.
type Act struct {
	Kill bool // else motes are born
	X, Y int  // pixel
}

// Swarm is a store of motes and the systems that move it on.
type Swarm struct {
	Store   *store.Store
	Motes   *store.Table[Mote]
	Frame   *store.Schedule
	squares *store.Table[Square]
	at      [rows][columns]store.Handle[Square] // written once
	near    store.Groups[Mote, Square]
	acts    []Act // of the tick that is played
}

// New returns a swarm of n motes.
func New(ctx context.Context, n int) (*Swarm, error) {
	s, err := store.New(store.Options{})
	if err != nil {
		return nil, err
	}
	w, err := of(s)
	if err != nil {
		return nil, err
	}
	return w, s.Write(ctx, func(_ context.Context, writer *store.Writer) error { return w.fill(writer, n) })
}

// of makes the tables and systems of a swarm in s.
func of(s *store.Store) (w *Swarm, err error) {
	w = &Swarm{Store: s}
	if w.Motes, err = store.Register(s, store.TableOptions[Mote]{Name: "mote", Shards: 4}); err != nil {
		return nil, err
	}
	if w.squares, err = store.Register(s, store.TableOptions[Square]{Name: "square", ChunkItems: 64}); err != nil {
		return nil, err
	}
	type on = []store.Resource
	w.Frame, err = store.NewSchedule(
		s,
		store.System{Name: "gather", Reads: on{w.Motes}, Writes: on{w.squares}, Run: w.gather},
		store.System{Name: "steer", Reads: on{w.squares}, Writes: on{w.Motes}, Run: w.steer},
		store.System{Name: "live", Writes: on{w.Motes}, Emits: on{w.Motes}, Run: w.live},
	)
	return w, err
}

func (w *Swarm) fill(writer *store.Writer, n int) (err error) {
	for row := range rows {
		for column := range columns {
			if w.at[row][column], err = w.squares.Insert(writer, Square{}); err != nil {
				return err
			}
		}
	}
	for i := range n {
		m := w.born(uint32(i)*2654435761 + 1)
		m.Life = 1 + int32(i)%600 // so that not all die at once
		if _, err := w.Motes.Insert(writer, m); err != nil {
			return err
		}
	}
	return nil
}

// random returns the next of the numbers that a seed gives, below n.
func random(seed *uint32, n int32) int32 {
	*seed ^= *seed << 13
	*seed ^= *seed >> 17
	*seed ^= *seed << 5
	return int32(*seed % uint32(n))
}

// born returns a mote somewhere on the plane. seed is not 0.
func (w *Swarm) born(seed uint32) Mote {
	m := Mote{Seed: seed | 1}
	m.X, m.Y = random(&m.Seed, Width*Unit), random(&m.Seed, Height*Unit)
	m.VX, m.VY = random(&m.Seed, 2*Unit)-Unit, random(&m.Seed, 2*Unit)-Unit
	m.Life = 300 + random(&m.Seed, 600)
	m.Square = w.squareAt(m.X, m.Y)
	return m
}

func (w *Swarm) squareAt(x, y int32) store.Handle[Square] {
	return w.at[y/(side*Unit)][x/(side*Unit)]
}

// Tick plays one tick with a number of workers.
func (w *Swarm) Tick(ctx context.Context, workers int, acts []Act) error {
	w.acts = acts
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
	return errors.Join(err, w.near.ForEach(ctx, func(_ context.Context, c store.GroupChunk[Mote, Square]) error {
		for i := range c.Owners {
			motes := c.Members(i)
			sum := Square{N: int32(motes.Len())}
			for k := range motes.Len() {
				m := motes.At(k)
				sum.X += m.X / Unit
				sum.Y += m.Y / Unit
				sum.VX += m.VX
				sum.VY += m.VY
			}
			c.Owners[i] = sum
		}
		return nil
	}))
}

// steer has each mote go with those of its square, and away from their middle where
// they are many.
func (w *Swarm) steer(ctx context.Context) error {
	return w.Motes.ForEach(ctx, func(_ context.Context, c store.Chunk[Mote]) error {
		for i := range c.Items {
			m := &c.Items[i]
			if q := w.squares.At(m.Square); q.N > 1 {
				m.VX += (q.VX/q.N - m.VX) / 8
				m.VY += (q.VY/q.N - m.VY) / 8
				pull := Unit / 32
				if q.N > 48 {
					pull = -pull
				}
				m.VX += int32(pull) * (q.X/q.N - m.X/Unit) / side
				m.VY += int32(pull) * (q.Y/q.N - m.Y/Unit) / side
			}
			m.VX = clamp(m.VX + random(&m.Seed, 65) - 32)
			m.VY = clamp(m.VY + random(&m.Seed, 65) - 32)
			m.X = wrap(m.X+m.VX, Width*Unit)
			m.Y = wrap(m.Y+m.VY, Height*Unit)
			m.Square = w.squareAt(m.X, m.Y)
		}
		return nil
	})
}

func clamp(v int32) int32 { return max(-2*Unit, min(2*Unit, v)) }

func wrap(v, n int32) int32 { return (v + n) % n }

// reach is how far from a person's hand motes are killed, and newborn are how many
// appear there.
const (
	reach   = 30
	newborn = 200
)

// live has motes die of age, each for another one, and does what a person did.
func (w *Swarm) live(ctx context.Context) error {
	err := w.Motes.ForEach(ctx, func(_ context.Context, c store.Chunk[Mote]) error {
		for i := range c.Items {
			m := &c.Items[i]
			if m.Life--; m.Life <= 0 {
				c.Erase(i)
				w.Motes.Emplace(c.Queue, w.born(m.Seed))
			} else if w.killed(m) {
				c.Erase(i)
			}
		}
		return nil
	})
	if err != nil || len(w.acts) == 0 {
		return err
	}
	return w.Store.Each(ctx, len(w.acts), func(_ context.Context, task int, q store.Queue) error {
		if a := w.acts[task]; !a.Kill {
			for i := range newborn {
				m := w.born(uint32(w.Store.Epoch())*7919 + uint32(i)*104729 + uint32(task) + 1)
				m.X, m.Y = wrap(int32(a.X)*Unit, Width*Unit), wrap(int32(a.Y)*Unit, Height*Unit)
				m.Square = w.squareAt(m.X, m.Y)
				w.Motes.Emplace(q, m)
			}
		}
		return nil
	})
}

func (w *Swarm) killed(m *Mote) bool {
	for _, a := range w.acts {
		dx, dy := int(m.X/Unit)-a.X, int(m.Y/Unit)-a.Y
		if a.Kill && dx*dx+dy*dy < reach*reach {
			return true
		}
	}
	return false
}
