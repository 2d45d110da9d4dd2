package history

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

var benchTicks = flag.Int("ticks", 0, "ticks of the logs of BenchmarkSeek; default 72,000 of the arena, 7,200 and 1,440")

// crowd is a program of n items, each of which a tick changes in place.
func crowd[T any](n int, step func(v *T, seed uint64)) Game {
	return Game{New: func(workers int) (*store.Store, world.Options, Checks, error) {
		s := store.New(store.Options{Workers: workers})
		table := store.Register(s, store.TableOptions[T]{Name: "crowd", Shards: 16})
		return s, world.Options{
			Version: "crowd", Hz: 20,
			Init: func(_ context.Context, w *store.Writer) error {
				for range n {
					table.Insert(w, *new(T))
				}
				return nil
			},
			Tick: func(ctx context.Context, _ *store.Writer, t world.Tick) error {
				return table.ForEach(ctx, func(c store.Chunk[T]) {
					for i := range c.Items {
						step(&c.Items[i], t.Seed)
					}
				})
			},
		}, nil, nil
	}}
}

// BenchmarkSeek seeks random ticks of a log, after one pass over all of it. It reports
// percentiles of the time and of the ticks that a seek plays, the memory of the checkpoints, and
// their distance in ticks. With the default Memory of 1 GiB, on two processors, -ticks 72000:
//
//	world           p50      p99      ticks p50,   p99   memory    distance
//	50 players      0.16 ms  0.78 ms        8,      15    52 MiB     16 ticks
//	100k x 128 B    0.11 s   0.22 s       514,   1,198   989 MiB  1,201 ticks
//	1M x 64 B       6.6 s    14 s       2,972,   6,154   942 MiB  7,201 ticks
func BenchmarkSeek(b *testing.B) {
	for _, c := range []struct {
		name  string
		game  Game
		ticks int
	}{
		{"arena", crowd(50, func(v *[7]uint64, seed uint64) { v[0], v[1] = v[0]+seed%7, v[1]+1 }), 72_000},
		{"100k_x_128B", crowd(100_000, func(v *[16]uint64, seed uint64) { v[seed%16] += v[0] + 1 }), 7_200},
		{"1M_x_64B", crowd(1_000_000, func(v *[8]uint64, seed uint64) { v[seed%8] += v[0] + 1 }), 1_440},
	} {
		if *benchTicks > 0 {
			c.ticks = *benchTicks
		}
		b.Run(fmt.Sprintf("world=%s/ticks=%d", c.name, c.ticks), func(b *testing.B) {
			dir := b.TempDir()
			playCrowd(b, dir, c.game, c.ticks)
			h, err := Open(b.Context(), dir, c.game, Options{})
			noError(b, err)
			last := h.Ranges()[len(h.spans)-1].Last
			for tick := uint64(0); tick < last; tick = min(tick+1000, last) {
				_, _, err = h.Seek(b.Context(), tick)
				noError(b, err)
			}
			random := rand.New(rand.NewPCG(1, 1))
			var times, ticks []float64
			for b.Loop() {
				begin, played := time.Now(), h.played.Load()
				_, _, err := h.Seek(b.Context(), random.Uint64N(last+1))
				noError(b, err)
				times, ticks = append(times, time.Since(begin).Seconds()*1e3), append(ticks, float64(h.played.Load()-played))
			}
			report := func(all []float64, unit string) {
				slices.Sort(all)
				b.ReportMetric(all[(len(all)-1)/2], "p50-"+unit)
				b.ReportMetric(all[(len(all)-1)*99/100], "p99-"+unit)
			}
			report(times, "ms")
			report(ticks, "ticks")
			moments := len(h.shelf.grid) + len(h.shelf.rungs) + len(h.shelf.free)
			b.ReportMetric(float64(h.shelf.each)*float64(moments)/(1<<20), "MiB")
			b.ReportMetric(float64(h.shelf.distance), "ticks/moment")
			noError(b, h.Close())
		})
	}
}

func playCrowd(b *testing.B, dir string, g Game, ticks int) {
	b.Helper()
	l, err := journal.Open(dir, journal.Options{Sync: journal.Never, Keep: 1 << 40})
	noError(b, err)
	s, o, _, err := g.New(0)
	noError(b, err)
	w, err := world.Open(b.Context(), s, l, o)
	noError(b, err)
	noError(b, s.Team(b.Context(), func(ctx context.Context) error {
		for range ticks {
			if _, err := w.Step(ctx); err != nil {
				return err
			}
		}
		return nil
	}))
	noError(b, w.Close(b.Context()))
	noError(b, l.Close())
}
