package store_test

import (
	"context"
	"fmt"
	"strings"

	"handloom/store"
)

// region cell

// cell is a place on a torus. Columns have its state.
type cell struct {
	Near [8]store.Handle[cell]
}

// life is a table of cells with two columns that are exchanged after each step.
type life struct {
	cells     *store.Table[cell]
	now, next *store.Column[cell, bool]
	places    []store.Handle[cell] // by row and column of the torus
	width     int
}

// endregion

func newLife(ctx context.Context, s *store.Store, torus ...string) (*life, error) {
	l := &life{width: len(torus[0])}
	l.cells = store.Register(s, store.TableOptions[cell]{Name: "cells", Shards: 2, ChunkItems: 8})
	l.now = store.AddColumn(l.cells, store.ColumnOptions[bool]{Name: "now"})
	l.next = store.AddColumn(l.cells, store.ColumnOptions[bool]{Name: "next"})
	return l, s.Write(ctx, func(w *store.Writer) {
		for _, alive := range strings.Join(torus, "") {
			h := l.cells.Insert(w, cell{})
			*l.now.At(h) = alive == '#'
			l.places = append(l.places, h)
		}
		for at, h := range l.places {
			near := l.cells.At(h).Near[:0]
			for _, d := range [][2]int{{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}} {
				near = append(near, l.place(at/l.width+d[0], at%l.width+d[1]))
			}
		}
	})
}

// place returns the cell of a row and column, modulo the size.
func (l *life) place(row, column int) store.Handle[cell] {
	height := len(l.places) / l.width
	return l.places[(row+height)%height*l.width+(column+l.width)%l.width]
}

// region step

// step reads now of any neighbour and writes next of its own cells only. No task reads data
// that another task writes.
func (l *life) step(ctx context.Context) error {
	err := l.cells.ForEachRows(ctx, func(c store.Chunk[cell]) {
		now, next := l.now.Read(c), l.next.Write(c)
		for i := range c.Items {
			living := 0
			for _, h := range c.Items[i].Near {
				if *l.now.At(h) {
					living++
				}
			}
			next[i] = living == 3 || living == 2 && now[i]
		}
	})
	if err != nil {
		return err
	}
	return store.Exchange(ctx, l.now, l.next)
}

// endregion

func (l *life) String() string {
	var b strings.Builder
	for at, h := range l.places {
		if at > 0 && at%l.width == 0 {
			b.WriteByte('\n')
		}
		b.WriteByte(".#"[index(*l.now.At(h))])
	}
	return b.String()
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Life: cells read their neighbours while all of them change. Two columns are exchanged after
// each step.
func Example_life() {
	ctx := context.Background()
	s := store.New(store.Options{Workers: 2})
	l, err := newLife(ctx, s,
		".#....",
		"..#...",
		"###...",
		"......",
		"......",
		"......",
	)
	if err != nil {
		panic(err)
	}
	frame := store.NewSchedule(s, store.System{Name: "step", Writes: []store.Resource{l.now, l.next}, Run: l.step})
	for range 2 {
		for range 4 { // moves a glider by one place
			if _, err := frame.Run(ctx); err != nil {
				panic(err)
			}
		}
		fmt.Println(l)
		fmt.Println()
	}
	// Output:
	// ......
	// ..#...
	// ...#..
	// .###..
	// ......
	// ......
	//
	// ......
	// ......
	// ...#..
	// ....#.
	// ..###.
	// ......
}
