package runner

import (
	"cmp"
	"sync/atomic"
	"unsafe"

	"handloom/proof/model"
	"handloom/proof/script"
)

// orders are the comparisons of sorts: ascending, descending, with many equal items, by
// serial, and with reversed blocks.
var orders = []func(a, b model.Item) int{
	func(a, b model.Item) int { return cmp.Compare(a.Key, b.Key) },
	func(a, b model.Item) int { return cmp.Compare(b.Key, a.Key) },
	func(a, b model.Item) int { return cmp.Compare(a.Key%8, b.Key%8) },
	func(a, b model.Item) int { return cmp.Compare(a.Serial, b.Serial) },
	func(a, b model.Item) int {
		return cmp.Or(cmp.Compare(a.Key/sortBlock, b.Key/sortBlock), cmp.Compare(b.Key, a.Key))
	},
}

// sortBlock is the number of rich items in a block of a sort. With ascending
// keys from 0, the last order reverses each block in place.
const sortBlock = uint64(1 << 16 / unsafe.Sizeof(bigItem{}))

// order returns the comparison of a step. Any number selects one, so that a shrunk program
// is valid.
func order(s *script.Step) func(a, b model.Item) int { return orders[s.Arg("by")%len(orders)] }

// keyMask returns the mask of the lowest bits of a key: sorts by few bits have many equal
// keys.
func keyMask(s *script.Step) uint64 { return uint64(1)<<(s.Arg("by")%64+1) - 1 }

// byMasked is the order of SortByKey with a masked key, for the model.
func byMasked(mask uint64) func(a, b model.Item) int {
	return func(a, b model.Item) int { return cmp.Compare(a.Key&mask, b.Key&mask) }
}

// sorted sorts the exact model. Both sorts are stable, so the order of equal items must
// agree.
func (y *writing) sorted(compare func(a, b model.Item) int) {
	for shard := range y.modelled[y.s.Table].Shards {
		y.exact.Map(y.s.Table, shard).Sort(compare)
	}
}

// sortTable sorts the store and the exact model; the abstract model has no order.
func (y *writing) sortTable() {
	compare := order(y.s)
	err := y.t.(orderedTable).sortTable(y.ctx, y.w, compare)
	y.want(err == nil, "SortFunc of a table: %v", err)
	y.sorted(compare)
}

// checkBudget checks the bound of the work in one call.
func (p *executor) checkBudget(compared, moves, budget int, done bool) {
	p.want(budget == 0 || compared+moves <= budget, "Defragment compares %d times and moves %d with a budget of %d", compared, moves, budget)
	p.want(budget != 0 || done, "Defragment without a bound is not done")
	if !done {
		p.see(model.DefragmentPaused)
	}
}

// defragmentTable continues the defragmentation of all shards. Each gets at
// least 1 of the shared budget. A new comparison requires a reset.
func (y *writing) defragmentTable() {
	t := y.t.(orderedTable)
	by := y.s.Arg("by")%len(orders) + 1
	// A nil comparison drops the progress under the old one.
	if last := y.sortedBy[y.s.Table]; last != 0 && last != by {
		_, _, err := t.defragmentTable(y.ctx, y.w, nil, 0)
		y.want(err == nil, "Defragment without a comparison: %v", err)
	}
	// A rollback restores it with the progress of the table.
	y.sortedBy[y.s.Table] = by
	var compared atomic.Int64 // shards run in parallel
	budget, compare := y.s.Arg("budget"), order(y.s)
	moves, done, err := t.defragmentTable(y.ctx, y.w, func(a, b model.Item) int {
		// The budget bounds comparisons and moves together.
		compared.Add(1)
		return compare(a, b)
	}, budget)
	if err != nil {
		y.fail(Model, "Defragment of a table: %v", err)
		return
	}
	rows := make([][]uint64, y.modelled[y.s.Table].Shards)
	// The rows after it depend on the budget and the history, so the model adopts them.
	for id := range t.all() {
		shard := int(id>>48) - int(y.modelled[y.s.Table].TypeID)
		rows[shard] = append(rows[shard], id)
	}
	y.checkBudget(int(compared.Load()), moves, max(budget, min(budget, 1)*len(rows)), done)
	for shard, ids := range rows {
		if err := y.exact.Map(y.s.Table, shard).Follow(ids, done, compare); err != nil {
			y.fail(Model, "shard %d: %v", shard, err)
		}
	}
}
