package main_test

import (
	"context"
	"errors"
	"fmt"

	"handloom/store"
)

// region tick

// herd is a plane of discs that move to the middle of their neighbours, and split or die.
type herd struct {
	*plane
	next *store.Column[Disc, place]
}

type place struct{ X, Y, Near int }

func (h *herd) tick(ctx context.Context) error {
	err := h.group(ctx)
	if err != nil {
		return err
	}
	// Read every disc, write next of own discs.
	err = h.discs.ForEachRows(ctx, func(c store.Chunk[Disc]) {
		next := h.next.Write(c)
		for i, d := range c.Items {
			sum, n := place{}, 0
			for _, other := range h.within(d.X, d.Y, cellSize) {
				sum.X, sum.Y, n = sum.X+other.X, sum.Y+other.Y, n+1
			}
			next[i] = place{sum.X / n, sum.Y / n, n}
		}
	})
	if err != nil {
		return err
	}
	// No task reads a neighbour here: move the discs.
	err = h.discs.ForEach(ctx, func(c store.Chunk[Disc]) {
		for i, to := range h.next.Read(c) {
			d := &c.Items[i]
			d.X, d.Y, d.Cell = to.X, to.Y, h.cellAt(to.X, to.Y)
			switch {
			case to.Near > 24: // the crowd is too dense
				c.Erase(i)
			case to.Near < 12: // there is room: it splits
				h.discs.Emplace(c.Queue, *d)
			}
		}
	})
	if err != nil {
		return err
	}
	_, err = h.store.Flush(ctx) // births and deaths
	return err
}

// endregion

// region arrange

// arrange sorts the discs by cell, so that neighbours are near each other in memory.
func (h *herd) arrange(ctx context.Context) error {
	_, err := h.store.Frame(ctx, func(ctx context.Context, w *store.Writer) error {
		return store.SortByKey(ctx, h.discs, w, func(d *Disc) uint64 { return uint64(d.Cell.ID) })
	})
	return err
}

// endregion

// Discs move to their neighbours.
func Example_neighbours() {
	ctx := context.Background()
	p, err := newPlane(ctx)
	h := &herd{p, store.AddColumn(p.discs, store.ColumnOptions[place]{Name: "next"})}
	err = errors.Join(err, p.store.Write(ctx, func(w *store.Writer) {
		for i := range 500 {
			x, y := i*37%100, i*61%100
			p.discs.Insert(w, Disc{X: x, Y: y, Cell: p.cellAt(x, y)})
		}
	}))
	for tick := range 40 {
		if tick%8 == 0 {
			err = errors.Join(err, h.arrange(ctx))
		}
		err = errors.Join(err, h.tick(ctx))
	}
	crowded := 0
	for cell := range h.cells.All() {
		if h.near.Of(cell).Len() > 0 {
			crowded++
		}
	}
	fmt.Println(h.near.Len(), "discs in", crowded, "cells", err)
	// Output:
	// 540 discs in 35 cells <nil>
}
