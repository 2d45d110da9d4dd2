package play

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

// reorderTable changes the rows of every shard of a packed table.
func (p *player) reorderTable(ctx context.Context, s *program.Step, t orderedTable, w *store.Writer) {
	switch mask := keyMask(s); s.Op {
	case program.SortTable:
		p.sortTable(ctx, s, t, w)
	case program.SortTableByKey:
		err := t.sortTableByKey(ctx, w, func(i model.Item) uint64 { return i.Key & mask })
		if err != nil {
			p.fail(Model, "SortByKey of a table: %v", err)
		}
		for shard := range p.modelled[s.Table].Shards {
			p.sorted(s.Table, shard, func(a, b model.Item) int { return cmp.Compare(a.Key&mask, b.Key&mask) })
		}
	case program.DefragmentTable:
		p.defragmentTable(ctx, s, t, w)
	}
}

// sorted puts a shard of the model in order.
func (p *player) sorted(table, shard int, compare func(a, b model.Item) int) {
	of := p.exact.Map(table, shard)
	of.Sort(0, of.Len(), compare)
}

// sortTable sorts all shards. With panic=k a comparison with a key that is k-1
// modulo 8 panics, and the shards with such a key and another item keep their
// order; with cancel=1 the context has ended, and all do.
func (p *player) sortTable(ctx context.Context, s *program.Step, t orderedTable, w *store.Writer) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if s.Arg("cancel") == 1 {
		cancel(errCancelled)
	}
	panics := func(i model.Item) bool { return int(i.Key%8)+1 == s.Arg("panic") }
	compare := order(s)
	err := t.sortTable(ctx, w, func(a, b model.Item) int {
		if panics(a) || panics(b) {
			panic(errTask)
		}
		return compare(a, b)
	})
	if s.Arg("cancel") == 1 {
		p.expect(err, errCancelled, "SortFunc with a context that has ended")
		return
	}
	lowest := -1
	for shard := range p.modelled[s.Table].Shards {
		switch rows := p.exact.Map(s.Table, shard).Handles(); {
		case len(rows) < 2 || !slices.ContainsFunc(rows, func(id uint64) bool { return panics(*p.exact.Item(id)) }):
			p.sorted(s.Table, shard, compare)
		case lowest < 0:
			lowest = shard
		}
	}
	p.checkSorted(err, lowest)
}

// checkSorted compares the error of a sort of which the lowest shard to panic is
// given; -1 is none.
func (p *player) checkSorted(err error, lowest int) {
	var panicked *store.PanicError
	switch {
	case lowest < 0 && err != nil:
		p.fail(Model, "SortFunc of a table: %v", err)
	case lowest < 0:
	case !errors.As(err, &panicked) || panicked.Task != lowest || panicked.Value != errTask:
		p.fail(Model, "SortFunc of a table: %v; want the panic of shard %d", err, lowest)
	default:
		p.see(model.CallbackPanic)
	}
}

// defragmentTable goes on with ordering all shards, which share the budget: each
// has a part of at least 1.
func (p *player) defragmentTable(ctx context.Context, s *program.Step, t orderedTable, w *store.Writer) {
	maps := t.maps(w)
	for shard, m := range maps {
		p.sortsBy(s, shard, m.(orderedMap))
	}
	var compared atomic.Int64 // shards are worked on at the same time
	budget := s.Arg("budget")
	moves, done, err := t.defragmentTable(ctx, w, func(a, b model.Item) int {
		compared.Add(1)
		return order(s)(a, b)
	}, budget)
	if err != nil {
		p.fail(Model, "Defragment of a table: %v", err)
		return
	}
	p.checkBudget(int(compared.Load()), moves, max(budget, min(budget, 1)*len(maps)), done)
	n := 0
	for shard, m := range maps {
		if err := p.exact.Map(s.Table, shard).Follow(m.rows(), done, order(s)); err != nil {
			p.fail(Model, "shard %d: %v", shard, err)
			return
		}
		n = max(n, m.len())
	}
	p.seeDefragmented(done, n)
}
