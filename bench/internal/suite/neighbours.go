package suite

import (
	"context"

	"handloom/bench/internal/measure"
	"handloom/store"
)

// boid moves towards the middle of the boids in the nine nearest squares, as in the guide.
type boid struct {
	now, next [2]float64
	square    store.Handle[square]
}

type square struct{ column, row int }

// perSquare is the average number of boids in a square.
const perSquare = 4

// neighbours returns the cases of a frame of n boids on one worker: a table, a table sorted
// by square every eighth frame, and a grid by hand.
func neighbours(s set[item32]) []measure.Case {
	made := func(impl string, open func() *measure.Work) measure.Case {
		return onOneWorker(s.newCase("neighbours", impl, open))
	}
	return []measure.Case{
		made("table", func() *measure.Work { return flock(s, 0) }),
		made("table.sorted", func() *measure.Work { return flock(s, 8) }),
		made("grid", func() *measure.Work { return grid(s) }),
	}
}

func side(s set[item32]) int {
	side := 1
	for side*side*perSquare < s.n {
		side++
	}
	return side
}

func places(s set[item32]) [][2]float64 {
	r, side, all := s.random(), float64(side(s)), make([][2]float64, s.n)
	for i := range all {
		all[i] = [2]float64{r.Float64() * side, r.Float64() * side}
	}
	return all
}

// moved returns the next place: a step towards the middle and a constant drift, within the
// plane.
func moved(now [2]float64, sum [2]float64, n int, side float64) (next [2]float64) {
	for d := range now {
		next[d] = now[d] + 0.01*(sum[d]/float64(n)-now[d]) + 0.02
		if next[d] >= side {
			next[d] -= side
		}
	}
	return next
}

func flock(s set[item32], every int) *measure.Work {
	st, side := newStore(1), side(s)
	boids := store.Register(st, store.TableOptions[boid]{Reserve: s.n})
	squares := store.Register(st, store.TableOptions[square]{Reserve: side * side})
	all := make([]square, side*side)
	for i := range all {
		all[i] = square{i % side, i / side}
	}
	at := emplace(st, squares, all)
	squareAt := func(place [2]float64) store.Handle[square] { return at[int(place[1])*side+int(place[0])] }
	flock := make([]boid, s.n)
	for i, place := range places(s) {
		flock[i] = boid{now: place, square: squareAt(place)}
	}
	emplace(st, boids, flock)
	var near store.Groups[boid, square]
	middle := func(h store.Handle[square]) (sum [2]float64, n int) {
		q := squares.At(h)
		for row := max(q.row-1, 0); row <= min(q.row+1, side-1); row++ {
			for column := max(q.column-1, 0); column <= min(q.column+1, side-1); column++ {
				members := near.Of(at[row*side+column])
				for k := range members.Len() {
					place := &members.At(k).now
					sum[0], sum[1], n = sum[0]+place[0], sum[1]+place[1], n+1
				}
			}
		}
		return sum, n
	}
	read := func(c store.Chunk[boid]) {
		for i := range c.Items {
			b := &c.Items[i]
			sum, n := middle(b.square)
			b.next = moved(b.now, sum, n, float64(side))
		}
	}
	write := func(c store.Chunk[boid]) {
		for i := range c.Items {
			b := &c.Items[i]
			b.now, b.square = b.next, squareAt(b.next)
		}
	}
	var ctx context.Context
	frame := 0
	return &measure.Work{Items: s.n, Within: within(1, &ctx), Body: func() {
		if frame++; every > 0 && frame%every == 1 {
			must(st.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
				return store.SortByKey(ctx, boids, w, func(b *boid) uint64 { return uint64(b.square.ID) })
			}))
		}
		check(store.GroupBy(ctx, &near, boids, squares, func(b *boid) store.Handle[square] { return b.square }))
		check(boids.ForEach(ctx, read))
		check(boids.ForEach(ctx, write))
		must(st.Flush(ctx))
	}, Count: func() int { return near.Len() }}
}

func grid(s set[item32]) *measure.Work {
	type boid struct {
		now, next [2]float64
		square    int
	}
	side := side(s)
	squareAt := func(place [2]float64) int { return int(place[1])*side + int(place[0]) }
	boids, first, members := make([]boid, s.n), make([]int32, side*side+1), make([]int32, s.n)
	for i, place := range places(s) {
		boids[i] = boid{now: place, square: squareAt(place)}
	}
	group := func() {
		clear(first)
		for i := range boids {
			first[boids[i].square]++
		}
		end := int32(0)
		for i := range first {
			end += first[i]
			first[i] = end
		}
		for i := len(boids) - 1; i >= 0; i-- {
			q := boids[i].square
			first[q]--
			members[first[q]] = int32(i)
		}
	}
	return &measure.Work{Items: s.n, Body: func() {
		group()
		for i := range boids {
			b := &boids[i]
			var sum [2]float64
			n, at := 0, b.square
			for row := max(at/side-1, 0); row <= min(at/side+1, side-1); row++ {
				for q := row*side + max(at%side-1, 0); q <= row*side+min(at%side+1, side-1); q++ {
					for _, k := range members[first[q]:first[q+1]] {
						place := &boids[k].now
						sum[0], sum[1], n = sum[0]+place[0], sum[1]+place[1], n+1
					}
				}
			}
			b.next = moved(b.now, sum, n, float64(side))
		}
		for i := range boids {
			b := &boids[i]
			b.now, b.square = b.next, squareAt(b.next)
		}
	}, Count: func() int { return len(members) }}
}
