package main_test

import (
	"context"
	"fmt"
	"iter"

	"handloom/store"
)

// cellSize is at least the diameter of the largest disc.
const cellSize = 10

// columns and rows of cells. A plane of any size fits: distant cells share an item.
const columns, rows = 64, 64

// Disc is a round item on a plane.
type Disc struct {
	X, Y, Radius int
	Cell         store.Handle[Cell]
	Hits         int
}

// Cell is a square of the plane. Discs name it.
type Cell struct{}

type plane struct {
	store *store.Store
	discs *store.Table[Disc]
	cells *store.Table[Cell]
	at    [columns][rows]store.Handle[Cell] // written once
	near  store.Groups[Disc, Cell]          // by cell, as of the last group
}

func newPlane(ctx context.Context) (*plane, error) {
	s := store.New(store.Options{})
	p := &plane{store: s}
	p.discs = store.Register(s, store.TableOptions[Disc]{Name: "disc", ChunkItems: 64})
	p.cells = store.Register(s, store.TableOptions[Cell]{Name: "cell"})
	return p, s.Write(ctx, func(w *store.Writer) {
		for x := range columns {
			for y := range rows {
				p.at[x][y] = p.cells.Insert(w, Cell{})
			}
		}
	})
}

// cellAt returns the cell of a place.
func (p *plane) cellAt(x, y int) store.Handle[Cell] {
	return p.at[wrap(x, columns)][wrap(y, rows)]
}

// wrap returns the number of the cell that contains a coordinate.
func wrap(x, cells int) int {
	n := x / cellSize
	if x < 0 {
		n = (x+1)/cellSize - 1
	}
	return (n%cells + cells) % cells
}

// group sorts the discs by cell. Call it when discs have moved.
func (p *plane) group(ctx context.Context) error {
	return store.GroupBy(ctx, &p.near, p.discs, p.cells, func(d *Disc) store.Handle[Cell] { return d.Cell })
}

// within returns the discs whose middle is at most reach from a place, in an order that does
// not depend on the workers. reach is at most cellSize.
func (p *plane) within(x, y, reach int) iter.Seq2[store.Handle[Disc], *Disc] {
	return func(yield func(store.Handle[Disc], *Disc) bool) {
		for _, dx := range []int{-cellSize, 0, cellSize} {
			for _, dy := range []int{-cellSize, 0, cellSize} {
				for h, d := range p.near.Of(p.cellAt(x+dx, y+dy)).All() {
					if square(d.X-x)+square(d.Y-y) <= square(reach) && !yield(h, d) {
						return
					}
				}
			}
		}
	}
}

func square(x int) int { return x * x }

// Bump is the event of two discs that touch. A disc gets one from each disc that it touches.
type Bump struct{ Disc, Other store.Handle[Disc] }

// collide emits the bumps of this tick.
func (p *plane) collide(ctx context.Context, bumps *store.Table[Bump]) error {
	if err := p.group(ctx); err != nil {
		return err
	}
	return p.discs.ForEachRows(ctx, func(c store.Chunk[Disc]) { // writes no disc: all tasks may read all
		for i := range c.Items {
			d, own := &c.Items[i], c.Handle(i)
			for h, other := range p.within(d.X, d.Y, cellSize) {
				if h != own && square(d.X-other.X)+square(d.Y-other.Y) <= square(d.Radius+other.Radius) {
					bumps.Emplace(c.Queue, Bump{own, h})
				}
			}
		}
	})
}

func Example_collide() {
	ctx := context.Background()
	p, err := newPlane(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	bumps := store.Register(p.store, store.TableOptions[Bump]{Name: "bump", Events: true})
	_, err = p.store.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		for _, x := range []int{0, 5, 9, 30} {
			p.discs.Insert(w, Disc{X: x, Radius: 3, Cell: p.cellAt(x, 0)})
		}
		if err := p.collide(ctx, bumps); err != nil {
			return err
		}
		if _, err := p.store.Flush(ctx); err != nil {
			return err
		}
		return store.Fold(ctx, bumps, p.discs, func(b *Bump) store.Handle[Disc] { return b.Disc },
			func(d *Disc, _ *Bump) { d.Hits++ })
	})
	for h, d := range p.discs.All() {
		fmt.Println(h, "at", d.X, "touches", d.Hits)
	}
	fmt.Println(err)
	// Output:
	// 1:0.1 at 0 touches 1
	// 1:1.1 at 5 touches 2
	// 1:2.1 at 9 touches 1
	// 1:3.1 at 30 touches 0
	// <nil>
}
