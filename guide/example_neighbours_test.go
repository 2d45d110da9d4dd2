package main_test

import (
	"context"
	"errors"
	"fmt"

	"handloom/store"
)

// region types

// Boid has two places: all tasks read Now, only its own task writes Next.
type Boid struct {
	Now, Next [2]float64
	Square    store.Handle[Square]
}

// Square is a part of the plane; the boids in it name it.
type Square struct{ Column, Row int }

// endregion

// region setup

// side is the number of squares in a row.
const side = 4

type flock struct {
	*store.Store
	boids   *store.Table[Boid]
	squares *store.Table[Square]
	at      [side][side]store.Handle[Square] // written once
	near    store.Groups[Boid, Square]       // kept to reuse its memory
}

func newFlock(ctx context.Context) (*flock, error) {
	s := store.New(store.Options{})
	f := &flock{Store: s}
	f.boids = store.Register(s, store.TableOptions[Boid]{Name: "boid", ChunkItems: 64})
	f.squares = store.Register(s, store.TableOptions[Square]{Name: "square"})
	return f, s.Write(ctx, func(w *store.Writer) {
		for row := range side {
			for column := range side {
				f.at[row][column] = f.squares.Insert(w, Square{column, row})
			}
		}
		for i := range 500 {
			place := [2]float64{float64(i*37%400) / 100, float64(i*61%400) / 100}
			f.boids.Insert(w, Boid{Now: place, Square: f.squareAt(place)})
		}
	})
}

func (f *flock) squareAt(place [2]float64) store.Handle[Square] {
	index := func(x float64) int { return min(max(int(x), 0), side-1) }
	return f.at[index(place[1])][index(place[0])]
}

// endregion

// region tick

// tick moves every boid towards the middle of the boids in the nine nearest squares.
func (f *flock) tick(ctx context.Context) error {
	// Group the boids by their square.
	err := store.GroupBy(ctx, &f.near, f.boids, f.squares, func(b *Boid) store.Handle[Square] { return b.Square })
	if err != nil {
		return err
	}
	// Read every Now, write only Next of own boids.
	err = f.boids.ForEach(ctx, func(c store.Chunk[Boid]) {
		for i := range c.Items {
			b := &c.Items[i]
			middle := f.middle(b.Square)
			for d := range b.Now {
				b.Next[d] = b.Now[d] + float64(0.1*(middle[d]-b.Now[d])) // not fused
			}
		}
	})
	if err != nil {
		return err
	}
	// No task reads Now here: copy Next to Now.
	return f.boids.ForEach(ctx, func(c store.Chunk[Boid]) {
		for i := range c.Items {
			b := &c.Items[i]
			b.Now, b.Square = b.Next, f.squareAt(b.Next)
		}
	})
}

// middle is the mean place of the boids in a square and the squares around it.
func (f *flock) middle(h store.Handle[Square]) (sum [2]float64) {
	square, n := f.squares.At(h), 0
	for row := max(square.Row-1, 0); row <= min(square.Row+1, side-1); row++ {
		for column := max(square.Column-1, 0); column <= min(square.Column+1, side-1); column++ {
			boids := f.near.Of(f.at[row][column])
			for k := range boids.Len() {
				place := &boids.At(k).Now
				sum[0], sum[1], n = sum[0]+place[0], sum[1]+place[1], n+1
			}
		}
	}
	return [2]float64{sum[0] / float64(n), sum[1] / float64(n)}
}

// endregion

// region arrange

// arrange sorts the boids by square, so that neighbours are near each other in memory.
func (f *flock) arrange(ctx context.Context) error {
	_, err := f.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		return store.SortByKey(ctx, f.boids, w, func(b *Boid) uint64 { return uint64(b.Square.ID) })
	})
	return err
}

// endregion

// Boids follow their neighbours, with equal results on 1 worker and on many.
func Example_neighbours() {
	ctx := context.Background()
	f, err := newFlock(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for tick := range 40 {
		if tick%8 == 0 {
			err = f.arrange(ctx)
		}
		if err := errors.Join(err, f.tick(ctx)); err != nil {
			fmt.Println(err)
		}
	}
	crowded := 0
	for h := range f.squares.All() {
		if f.near.Of(h).Len() > 0 {
			crowded++
		}
	}
	fmt.Println(f.near.Len(), "boids in", crowded, "squares")
	// Output:
	// 500 boids in 4 squares
}
