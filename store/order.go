package store

import (
	"context"
	"fmt"
	"math/bits"
	"unsafe"

	"handloom/internal/check"
	"handloom/internal/dense"
	"handloom/internal/items"
)

// SortFunc sorts the items of every shard of t by cmp, as [handlemap.Map.SortFunc] does.
// Shards are sorted in parallel, so several goroutines call cmp at once; items do not
// change their shard. Handles stay valid, pointers do not.
//
// When cmp panics, its shard keeps its order, the others are sorted, and SortFunc returns
// the [*PanicError] of the lowest such shard, with the shard's number as the task. When
// ctx has ended before the first shard, nothing changes and SortFunc returns its cause.
//
// SortFunc joins the Frame of w as a pass does: passes and flushes meanwhile are
// [ErrPhase]. It panics when w is used outside its Frame.
func SortFunc[T any](ctx context.Context, t *Table[T], w *Writer, cmp func(a, b *T) int) error {
	check.Given(t != nil, "store: SortFunc", "table")
	check.Given(cmp != nil, "store: SortFunc", "function")
	return t.core.sortFunc(ctx, w, items.Compare(cmp))
}

// SortByKey sorts the items of every shard of t by ascending key, as
// [handlemap.Map.SortByKey] does; see [SortFunc].
func SortByKey[T any](ctx context.Context, t *Table[T], w *Writer, key func(*T) uint64) error {
	check.Given(t != nil, "store: SortByKey", "table")
	check.Given(key != nil, "store: SortByKey", "function")
	return t.core.sortByKey(ctx, w, items.Key(key))
}

// Defragment brings every shard of t closer to the order by cmp, as
// [handlemap.Map.Defragment] does. It returns the number of moves, and whether every
// shard is in order; the next call continues.
//
// budget bounds the comparisons and exchanges of all shards together. It is divided
// equally, with the rest for the first shards by typeId, but at least 1 per shard. 0 is
// unlimited; a negative budget panics.
//
// When cmp panics, finished work is kept, and the moves of that shard are not counted.
// Everything else is as for [SortFunc].
func Defragment[T any](ctx context.Context, t *Table[T], w *Writer, cmp func(a, b *T) int, budget int) (moves int, done bool, err error) {
	check.Given(t != nil, "store: Defragment", "table")
	return t.core.defragment(ctx, w, budget, func(shard, budget int) (int, bool) {
		return dense.Defragment(t.core.packed(shard), cmp, budget)
	})
}

func (t *table) packed(shard int) *dense.Set { return t.lookups.packed[(int(t.first)+shard)%MaxShards] }

func (t *table) sortFunc(ctx context.Context, w *Writer, cmp func(a, b unsafe.Pointer) int) error {
	return t.reorder(ctx, w, opSortFunc, func(shard int) { t.packed(shard).SortFunc(cmp) })
}

func (t *table) sortByKey(ctx context.Context, w *Writer, key func(item unsafe.Pointer) uint64) error {
	return t.reorder(ctx, w, opSortByKey, func(shard int) { t.packed(shard).SortByKey(key) })
}

func (t *table) defragment(ctx context.Context, w *Writer, budget int, one func(shard, budget int) (int, bool)) (moves int, done bool, err error) {
	if budget < 0 {
		panic(fmt.Sprintf("store: Defragment of table %q with a budget of %d; 0 is unlimited", t.name, budget))
	}
	shards := make([]struct {
		moves int
		done  bool
	}, len(t.order))
	err = t.reorder(ctx, w, opDefragment, func(shard int) {
		result := &shards[shard]
		result.moves, result.done = one(shard, partOf(budget, len(shards), shard))
	})
	done = true
	for _, result := range shards {
		moves += result.moves
		done = done && result.done
	}
	return moves, done, err
}

// partOf returns the i-th of n parts of a budget, at least 1; for 0, unlimited, it
// returns 0.
func partOf(budget, n, i int) int {
	if budget == 0 {
		return 0
	}
	share := budget / n
	if i < budget%n {
		share++
	}
	return max(share, 1)
}

// reorder calls f for every shard, in parallel, in a phase that joins the Frame of w.
func (t *table) reorder(ctx context.Context, w *Writer, op operation, f func(shard int)) error {
	t.store.given(ctx, op.String())
	w.use(t, op.String())
	p := &phase{Context: ctx, store: t.store, op: op, outer: w.phase}
	if err := p.open(); err != nil {
		return err
	}
	defer p.leave()
	defer p.trace(t.name).end()
	cost := make([]int64, len(t.order))
	for i, sh := range t.order {
		cost[i] = orderCost * int64(sh.Map.Len()) * int64(bits.Len(uint(sh.Map.Len())))
	}
	err := t.store.run(p, len(t.order), func(shard int) error {
		f(shard)
		return nil
	}, cost)
	if err != nil {
		return fmt.Errorf("store: %v of table %q: %w", op, t.name, err)
	}
	return nil
}

// orderCost is the estimated nanoseconds per item and per bit of the number of items. It
// only decides whether shards are ordered inline and which is first.
const orderCost = 5
