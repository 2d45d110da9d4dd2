package store_test

import (
	"context"
	"fmt"

	"handloom/store"
)

// region types

// ember has the data that all systems need; the rest is in columns.
type ember struct{ Source int }

type (
	place struct{ X, Y float32 }
	speed struct{ X, Y float32 }
)

// fire is a table of embers with three columns.
type fire struct {
	embers *store.Table[ember]
	places *store.Column[ember, place]
	speeds *store.Column[ember, speed]
	heats  *store.Column[ember, float32]
	frame  *store.Schedule
}

// endregion

func newFire(s *store.Store) *fire {
	f := new(fire)
	// region add
	f.embers = store.Register(s, store.TableOptions[ember]{Name: "embers", Shards: 2})
	f.places = store.AddColumn(f.embers, store.ColumnOptions[place]{Name: "place"})
	f.speeds = store.AddColumn(f.embers, store.ColumnOptions[speed]{Name: "speed"})
	f.heats = store.AddColumn(f.embers, store.ColumnOptions[float32]{Name: "heat"})
	// endregion
	// region systems
	type on = []store.Resource
	f.frame = store.NewSchedule(
		s,
		store.System{Name: "move", Reads: on{f.speeds}, Writes: on{f.places}, Run: f.move},
		store.System{Name: "cool", Writes: on{f.heats}, Emits: on{f.embers}, Run: f.cool},
		store.System{Name: "throw", Emits: on{f.embers, f.speeds, f.heats}, Run: f.throw(s)},
	)
	// endregion
	return f
}

// region passes

// move reads one column and writes another, 16 bytes per ember.
func (f *fire) move(ctx context.Context) error {
	return f.embers.ForEachRows(ctx, func(c store.Chunk[ember]) {
		p, v := f.places.Write(c), f.speeds.Read(c)
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	})
}

// cool writes a third column at the same time.
func (f *fire) cool(ctx context.Context) error {
	return f.embers.ForEachRows(ctx, func(c store.Chunk[ember]) {
		heat := f.heats.Write(c)
		for i := range heat {
			if heat[i] -= 10; heat[i] <= 0 {
				c.Erase(i)
			}
		}
	})
}

// endregion

// region set

// throw records embers and their elements; places begin at zero.
func (f *fire) throw(s *store.Store) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		return s.Each(ctx, 3, func(task int, q store.Queue) {
			for i := range 4 {
				e := f.embers.Emplace(q, ember{Source: task})
				f.speeds.Set(q, e, speed{X: float32(task - 1), Y: float32(i + 1)})
				f.heats.Set(q, e, float32(10*(i+1)))
			}
		})
	}
}

// endregion

// Columns: particles whose systems write different columns of one table at the same time.
func Example_columns() {
	ctx := context.Background()
	s := store.New(store.Options{Workers: 2})
	f := newFire(s)
	fmt.Print(f.frame.Explain())
	for range 5 {
		report, err := f.frame.Run(ctx)
		if err != nil {
			panic(err)
		}
		top, err := store.Reduce(ctx, f.embers, func(r store.Chunk[ember]) (top float32) {
			for _, p := range f.places.Read(r) {
				top = max(top, p.Y)
			}
			return top
		}, func(a, b float32) float32 { return max(a, b) })
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d embers up to %v, %v\n", f.embers.Len(), top, report.Columns)
	}
	// Output:
	// wave 1
	//   move
	//   cool
	//   throw
	// flush
	//     cool emits embers
	//     throw emits embers.speed
	//     throw emits embers
	//     throw emits embers.heat
	// 12 embers up to 0, [embers.speed: 12 put embers.heat: 12 put]
	// 21 embers up to 4, [embers.speed: 12 put embers.heat: 12 put]
	// 27 embers up to 8, [embers.speed: 12 put embers.heat: 12 put]
	// 30 embers up to 12, [embers.speed: 12 put embers.heat: 12 put]
	// 30 embers up to 12, [embers.speed: 12 put embers.heat: 12 put]
}
