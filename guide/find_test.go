package main_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"handloom/store"
)

// The model compares all pairs.
func TestWithin_FindsAllDiscs(t *testing.T) {
	ctx := t.Context()
	p, err := newPlane(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	err = p.store.Write(ctx, func(w *store.Writer) {
		for range 2000 {
			x, y := r.IntN(400)-200, r.IntN(400)-200
			p.discs.Insert(w, Disc{X: x, Y: y, Cell: p.cellAt(x, y)})
		}
	})
	if err == nil {
		err = p.group(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for range 500 {
		x, y, reach := r.IntN(440)-220, r.IntN(440)-220, r.IntN(cellSize+1)
		var got, want []store.ID
		for h := range p.within(x, y, reach) {
			got = append(got, h.ID)
		}
		for h, d := range p.discs.All() {
			if square(d.X-x)+square(d.Y-y) <= square(reach) {
				want = append(want, h.ID)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("within %d of %d, %d: got %v, want %v", reach, x, y, got, want)
		}
		found += len(got)
	}
	if found < 500 {
		t.Errorf("discs found: got %d, want 500 or more", found)
	}
}
