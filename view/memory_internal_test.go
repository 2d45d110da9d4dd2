package view

import (
	"context"
	"slices"
	"testing"

	"handloom/store"
)

// A client that never acknowledges costs no more with time, whatever enters and leaves.
func TestClient_ForgetsWhatLeft(t *testing.T) {
	const keep, window = 5, 20
	s := store.New(store.Options{})
	table := store.Register(s, store.TableOptions[int]{Changes: true})
	var hs []store.Handle[int]
	err := s.Write(t.Context(), func(w *store.Writer) {
		for i := range 400 {
			hs = append(hs, table.Insert(w, i))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	v := New(table, keep)
	c := v.Client()
	_ = s.Read(t.Context(), func(ctx context.Context) error {
		v.Advance(ctx)
		for i := range len(hs) - window {
			c.Update(ctx, slices.Values(hs[i:][:window]))
			if n := len(c.entries); n > window+keep+1 {
				t.Fatalf("Update %d: %d entries", i, n)
			}
		}
		return nil
	})
}
