package store_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"handloom/store"
)

type forgetful struct {
	*store.Store
	claim  storeClaim
	table  *store.Table[int]
	stable *store.StableTable[int]
	set    *store.Column[int, int]
	wrote  *store.Column[int, int]
	name   store.Handle[int] // provisional, from the last frame
}

func newForgetful(t *testing.T) *forgetful {
	f := &forgetful{Store: newStore(t, store.Options{Workers: 2})}
	f.table = register(t, f.Store, store.TableOptions[int]{Name: "table", Shards: 2, Changes: true})
	f.stable = registerStable(t, f.Store, store.TableOptions[int]{Name: "stable", Shards: 2, Changes: true})
	f.set = addColumn(t, f.table, store.ColumnOptions[int]{Name: "set", Changes: true})
	f.wrote = addColumn(t, f.table, store.ColumnOptions[int]{Name: "wrote", Changes: true})
	f.claim = claim(t, f.Store)
	return f
}

func (f *forgetful) lists() map[string]int {
	n := map[string]int{
		"Created of table": pairs(store.Created(f.table)), "Created of stable": pairs(store.Created(f.stable)),
		"Erased of table": pairs(store.Erased(f.table)), "Erased of stable": pairs(store.Erased(f.stable)),
		"Written of table": pairs(store.Written(f.table)), "Written of stable": pairs(store.Written(f.stable)),
		"Written of set": pairs(f.set.Written()), "Written of wrote": pairs(f.wrote.Written()),
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

// write runs a tick. ResetChanges must empty the lists.
func (f *forgetful) write(t *testing.T, tick func(ctx context.Context) error) {
	t.Helper()
	noError(t, onlyError(f.Frame(f.claim.Context(t.Context()), func(ctx context.Context, _ *store.Writer) error {
		f.claim.ResetChanges()
		for list, n := range f.lists() {
			equal(t, "entries after ResetChanges of "+list, n, 0)
		}
		return tick(ctx)
	})))
}

func (f *forgetful) change(ctx context.Context) error {
	pass := f.Do(ctx, func(q store.Queue) {
		for i, h := range handles(f.table.All()) {
			switch i {
			case 0:
				f.table.Erase(q, h)
			case 1:
				f.table.Put(q, h, 100)
			case 2:
				f.set.Set(q, h, 100)
			}
		}
		for i, h := range handles(f.stable.All()) {
			switch i {
			case 0:
				f.stable.Erase(q, h)
			case 1:
				f.stable.Put(q, h, 100)
			}
		}
		for n := range 8 {
			f.name = f.table.Emplace(q, n)
			f.stable.Emplace(q, n)
		}
	})
	return errors.Join(pass, onlyError(f.Flush(ctx)))
}

func handles(all seqOf[int]) (hs []store.Handle[int]) {
	for h := range all {
		hs = append(hs, h)
	}
	return hs
}

func (f *forgetful) inPlace(ctx context.Context) error {
	elements := f.table.ForEachRows(ctx, func(c store.Chunk[int]) {
		for i := range c.Items {
			f.wrote.Wrote(c, i)
		}
	})
	packed := f.table.ForEach(ctx, func(c store.Chunk[int]) { c.WroteAll() })
	stable := f.stable.ForEach(ctx, func(c store.StableChunk[int]) {
		for h := range c.All() {
			c.Wrote(h)
		}
	})
	return errors.Join(elements, packed, stable)
}

func TestClaim_ResetChangesEmptiesEveryList(t *testing.T) {
	f := newForgetful(t)
	f.write(t, f.change)
	f.write(t, func(ctx context.Context) error { return errors.Join(f.inPlace(ctx), f.change(ctx)) })
	for list, n := range f.lists() {
		if n == 0 {
			t.Errorf("%s is empty before ResetChanges", list)
		}
	}
	f.write(t, f.inPlace)
	lists := f.lists()
	for _, list := range []string{"Written of table", "Written of stable", "Written of wrote"} {
		if lists[list] == 0 {
			t.Errorf("%s is empty after a pass of the frame", list)
		}
	}
	f.write(t, func(context.Context) error { return nil })
}
