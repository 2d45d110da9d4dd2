package cells

import (
	"context"
	"math/rand/v2"
	"testing"

	"handloom/store"
)

// Lines give the message of a number or nothing, also after a Rollback that they do not see, and
// lines take every message that waits.
func TestLines_GiveNoOtherMessage(t *testing.T) {
	ctx := context.Background()
	const cells, newest = 2, 40
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := store.New(store.Options{Workers: 1})
		sent := store.Register(s, store.TableOptions[numbered[uint64]]{Name: "sent"})
		var l lines[uint64]
		var before store.Checkpoint
		waiting := func(cell ID, number uint64) (h store.Handle[numbered[uint64]]) {
			for k, m := range sent.All() {
				if m.Cell == cell && m.Number == number {
					h = k
				}
			}
			return h
		}
		acked, last := [cells]uint64{}, [cells]uint64{}
		var saved [2][cells]uint64
		for step := range 300 {
			c := r.IntN(cells)
			cell := ID(c)
			err := s.Write(ctx, func(w *store.Writer) {
				switch {
				case r.IntN(2) == 0 && last[c] < newest:
					if acked[c] == last[c] && r.IntN(2) == 0 { // a gap
						acked[c], last[c] = acked[c]+2, last[c]+2
					}
					last[c]++
					l.add(cell, last[c], sent.Insert(w, numbered[uint64]{cell, last[c], r.Uint64()}))
				case acked[c] < last[c]:
					acked[c]++
					h := l.take(sent, cell, acked[c])
					if h != waiting(cell, acked[c]) {
						t.Fatalf("seed %d, step %d: took %v for message %d", seed, step, h, acked[c])
					}
					sent.Remove(w, h)
				}
			})
			if err == nil && step%20 == 7 {
				saved, err = [2][cells]uint64{acked, last}, s.Checkpoint(ctx, &before)
			}
			if err == nil && step%20 == 17 {
				acked, last, err = saved[0], saved[1], s.Rollback(ctx, &before)
			}
			if err != nil {
				t.Fatal(err)
			}
			for number := range uint64(newest + 3) {
				if h, m := l.get(sent, cell, number); m != nil && h != waiting(cell, number) {
					t.Fatalf("seed %d, step %d: got %v for message %d", seed, step, h, number)
				}
			}
		}
		if _, err := s.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
}
