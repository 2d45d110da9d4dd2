package store_test

import (
	"context"
	"iter"
	"testing"

	"handloom/store"
)

// A forgetful store has a list of each kind that a frame leaves.
type forgetful struct {
	*store.Store
	claim  *store.Claim
	table  *store.Table[int]
	stable *store.StableTable[int]
	set    *store.Column[int, int] // written by Set
	wrote  *store.Column[int, int] // written in place
	name   store.Handle[int]       // provisional, of the last frame
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{Store: newStore(t, store.Options{Workers: 2})}
	f.table = register(t, f.Store, store.TableOptions[int]{Name: "table", Shards: 2, Changes: true})
	f.stable = registerStable(t, f.Store, store.TableOptions[int]{Name: "stable", Shards: 2, Changes: true})
	f.set = addColumn(t, f.table, store.ColumnOptions[int]{Name: "set", Changes: true})
	f.wrote = addColumn(t, f.table, store.ColumnOptions[int]{Name: "wrote", Changes: true})
	claim, err := f.Claim(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.claim = claim
	t.Cleanup(claim.Release)
	return f
}

// lists returns the length of each list, by name.
func (f *forgetful) lists() map[string]int {
	n := map[string]int{
		"Created of table": pairs(store.Created(f.table)), "Created of stable": pairs(store.Created(f.stable)),
		"Erased of table": pairs(store.Erased(f.table)), "Erased of stable": pairs(store.Erased(f.stable)),
		"Replaced of table": pairs(store.Replaced(f.table)), "Replaced of stable": pairs(store.Replaced(f.stable)),
		"Written of table": singles(store.Written(f.table)), "Written of stable": singles(store.Written(f.stable)),
		"Written of set": singles(f.set.Written()), "Written of wrote": singles(f.wrote.Written()),
		"Resolve": 0,
	}
	if _, ok := f.table.Resolve(f.name); ok {
		n["Resolve"]++
	}
	return n
}

func pairs[K, V any](all iter.Seq2[K, V]) (n int) {
	for range all {
		n++
	}
	return n
}

func singles[V any](all iter.Seq[V]) (n int) {
	for range all {
		n++
	}
	return n
}

func (f *forgetful) write(t *testing.T, tick func(ctx context.Context) error) {
	t.Helper()
	err := f.Write(f.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		f.claim.Forget()
		return tick(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// create adds items to both tables.
func (f *forgetful) create(ctx context.Context) error {
	return f.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		for n := range 8 {
			f.name = f.table.Emplace(q, n)
			f.stable.Emplace(q, n)
		}
		return nil
	})
}

// change erases, puts and sets items of both tables.
func (f *forgetful) change(ctx context.Context) error {
	return f.Each(ctx, 1, func(_ context.Context, _ int, q store.Queue) error {
		n := 0
		for h := range f.table.All() {
			switch n++; n {
			case 1:
				f.table.Erase(q, h)
			case 2:
				f.table.Put(q, h, 100)
			case 3:
				f.set.Set(q, h, 100)
			}
		}
		n = 0
		for h := range f.stable.All() {
			switch n++; n {
			case 1:
				f.stable.Erase(q, h)
			case 2:
				f.stable.Put(q, h, 100)
			}
		}
		return nil
	})
}

// inPlace writes all items and elements in place.
func (f *forgetful) inPlace(ctx context.Context) error {
	err := f.table.ForEachRows(ctx, func(_ context.Context, c store.RowsChunk[int]) error {
		for i := range c.Items {
			f.wrote.Wrote(c, i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = f.table.ForEach(ctx, func(_ context.Context, c store.Chunk[int]) error {
		c.WroteAll()
		return nil
	})
	if err != nil {
		return err
	}
	return f.stable.ForEach(ctx, func(_ context.Context, c store.StableChunk[int]) error {
		c.WroteAll()
		return nil
	})
}

// Every list is empty after Forget, whether the frame before had commands or passes alone.
func TestClaimForget_EmptiesEveryList(t *testing.T) {
	f := newForgetful(t)
	f.write(t, func(ctx context.Context) error {
		if err := f.create(ctx); err != nil {
			return err
		}
		flushIn(t, f.Store, ctx)
		return nil
	})
	f.write(t, func(ctx context.Context) error {
		if err := f.inPlace(ctx); err != nil {
			return err
		}
		if err := f.change(ctx); err != nil {
			return err
		}
		if err := f.create(ctx); err != nil {
			return err
		}
		flushIn(t, f.Store, ctx)
		return nil
	})
	for list, n := range f.lists() {
		if n == 0 {
			t.Errorf("%s is empty before Forget", list)
		}
	}
	f.write(t, func(ctx context.Context) error {
		for list, n := range f.lists() {
			if n != 0 {
				t.Errorf("%s has %d entries after Forget, want 0", list, n)
			}
		}
		return f.inPlace(ctx)
	})
	lists := f.lists()
	for _, list := range []string{"Written of table", "Written of stable", "Written of wrote"} {
		if lists[list] == 0 {
			t.Errorf("%s is empty after a pass of the frame", list)
		}
	}
	f.write(t, func(context.Context) error {
		for list, n := range f.lists() {
			if n != 0 {
				t.Errorf("%s has %d entries after a frame without commands, want 0", list, n)
			}
		}
		return nil
	})
}
