package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// spark is a particle of a fountain.
type spark struct {
	X, Y, VX, VY float64
	Life         int // ticks left
}

// nozzle throws sparks. It has random numbers of its own, so the worker that draws them does
// not matter.
type nozzle struct {
	X     float64
	Rate  int // sparks per tick
	State uint64
}

// random returns a number in [0, 1).
func (n *nozzle) random() float64 {
	n.State = n.State*6364136223846793005 + 1442695040888963407
	return float64(n.State>>11) / (1 << 53)
}

type fountain struct {
	nozzles *store.Table[nozzle]
	sparks  *store.Table[spark]
	frame   *store.Schedule
}

func newFountain(s *store.Store) *fountain {
	f := new(fountain)
	// One nozzle per task, because each makes many sparks.
	f.nozzles = store.Register(s, store.TableOptions[nozzle]{Name: "nozzle", ChunkItems: 1})
	// The hot table: a flush creates and erases in four shards at once.
	f.sparks = store.Register(s, store.TableOptions[spark]{Name: "spark", Shards: 4})
	type on = []store.Resource
	f.frame = store.NewSchedule(
		s,
		store.System{Name: "move", Writes: on{f.sparks}, Run: f.move},
		store.System{Name: "expire", Writes: on{f.sparks}, Emits: on{f.sparks}, Run: f.expire},
		store.System{Name: "emit", Writes: on{f.nozzles}, Emits: on{f.sparks}, Run: f.emit},
	)
	return f
}

// add adds nozzles to the fountain.
func (f *fountain) add(ctx context.Context, s *store.Store, nozzles ...nozzle) error {
	return s.Write(ctx, func(w *store.Writer) {
		for _, n := range nozzles {
			f.nozzles.Insert(w, n)
		}
	})
}

func (f *fountain) move(ctx context.Context) error {
	return f.sparks.ForEach(ctx, func(c store.Chunk[spark]) {
		for i := range c.Items {
			p := &c.Items[i]
			p.VY -= 0.1
			p.X += p.VX
			p.Y += p.VY
		}
	})
}

func (f *fountain) expire(ctx context.Context) error {
	return f.sparks.ForEach(ctx, func(c store.Chunk[spark]) {
		for i := range c.Items {
			if c.Items[i].Life--; c.Items[i].Life == 0 {
				c.Erase(i)
			}
		}
	})
}

func (f *fountain) emit(ctx context.Context) error {
	return f.nozzles.ForEach(ctx, func(c store.Chunk[nozzle]) {
		for i := range c.Items {
			n := &c.Items[i]
			for range n.Rate {
				p := spark{X: n.X, VX: n.random() - 0.5, VY: 2 + n.random(), Life: 20 + int(10*n.random())}
				f.sparks.Emplace(c.Queue, p)
			}
		}
	})
}

// height returns the mean height of the sparks. The sum, with its rounding, does not depend on
// the number of workers.
func (f *fountain) height(ctx context.Context) (float64, error) {
	sum, err := store.Reduce(ctx, f.sparks, func(r store.Rows[spark]) (sum float64) {
		for i := range r.Items {
			sum += r.Items[i].Y
		}
		return sum
	}, func(a, b float64) float64 { return a + b })
	return sum / float64(max(1, f.sparks.Len())), err
}

// Particles: systems that emit, move and expire, and a hot table with several shards.
func Example_particles() {
	ctx := context.Background()
	s := store.New(store.Options{})
	f := newFountain(s)
	fmt.Print(f.frame.Explain())

	_ = f.add(ctx, s, nozzle{X: -10, Rate: 300, State: 1}, nozzle{X: 10, Rate: 200, State: 2})
	// region team
	_ = s.Team(ctx, func(ctx context.Context) error { // workers spin between frames
		for tick := range 40 {
			report, err := f.frame.Run(ctx)
			if err != nil {
				return err
			}
			if tick%10 == 9 {
				height, _ := f.height(ctx)
				fmt.Printf("%v; %d sparks, %.2f high\n", report, f.sparks.Len(), height)
			}
		}
		return nil
	})
	// endregion

	// Output:
	// wave 1
	//   move
	// wave 2
	//   expire
	//     writes spark, which move writes
	//   emit
	//     emits spark, which expire writes
	// flush
	//     expire emits spark
	//     emit emits spark
	// epoch 10: 500 created; 5000 sparks, 9.61 high
	// epoch 20: 500 created; 10000 sparks, 17.10 high
	// epoch 30: 500 created 499 erased; 12219 sparks, 19.36 high
	// epoch 40: 500 created 495 erased; 12237 sparks, 19.38 high
}
