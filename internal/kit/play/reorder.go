package play

import (
	"cmp"
	"unsafe"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
)

// orders are the comparisons that programs sort by.
var orders = []func(a, b model.Item) int{
	func(a, b model.Item) int { return cmp.Compare(a.Key, b.Key) },
	func(a, b model.Item) int { return cmp.Compare(b.Key, a.Key) },
	func(a, b model.Item) int { return cmp.Compare(a.Key%8, b.Key%8) },
	func(a, b model.Item) int { return cmp.Compare(a.Serial, b.Serial) },
	func(a, b model.Item) int {
		return cmp.Or(cmp.Compare(a.Key/sortBlock, b.Key/sortBlock), cmp.Compare(b.Key, a.Key))
	},
}

// sortBlock is how many linked items a sort takes at once. Items by ascending key,
// the first 0, are blocks that the last order turns round and leaves where they
// are.
const sortBlock = uint64(1 << 16 / unsafe.Sizeof(linked{}))

func order(s *program.Step) func(a, b model.Item) int { return orders[s.Arg("by")%len(orders)] }

// keyMask are the bits of keys that a step sorts by.
func keyMask(s *program.Step) uint64 { return uint64(1)<<(s.Arg("by")%64+1) - 1 }

// reorder changes the rows of a packed map.
func (p *player) reorder(s *program.Step, m orderedMap) {
	n := m.len()
	switch s.Op {
	case program.SortFunc:
		p.sort(s, m)
	case program.SortByKey:
		mask := keyMask(s)
		m.sortByKey(func(i model.Item) uint64 { return i.Key & mask })
		p.exact.Map(s.Table, s.Shard).Sort(0, n, func(a, b model.Item) int { return cmp.Compare(a.Key&mask, b.Key&mask) })
	case program.SortRange:
		i := min(s.Arg("i"), n)
		j := max(i, min(s.Arg("j"), n))
		m.sortRange(i, j, order(s))
		p.exact.Map(s.Table, s.Shard).Sort(i, j, order(s))
	case program.SortAs:
		var ids []uint64
		for _, t := range p.targets(s.Refs, place{step: p.step}) {
			ids = append(ids, t.id)
		}
		m.sortAs(ids)
		p.exact.Map(s.Table, s.Shard).SortAs(ids)
	case program.Partition:
		got, want := m.partition(picking(s)), p.exact.Map(s.Table, s.Shard).Partition(picking(s))
		if got != want {
			p.fail(Model, "Partition returns %d; want %d", got, want)
		}
	case program.Swap:
		p.swap(s, m)
	case program.Defragment:
		p.defragment(s, m)
	case program.ForgetOrder:
		m.defragment(nil, 0)
		delete(p.sortedBy, [2]int{s.Table, s.Shard})
	}
}

// sort sorts, or with panic=k panics at the k-th comparison, and then every item
// is where it was.
func (p *player) sort(s *program.Step, m orderedMap) {
	compare, calls, digest := order(s), 0, m.digest()
	thrown := p.guarded(func() error {
		m.sortFunc(func(a, b model.Item) int {
			if calls++; calls == s.Arg("panic") {
				panic(errTask)
			}
			return compare(a, b)
		})
		return nil
	}, errTask)
	if thrown == nil {
		if s.Arg("by")%len(orders) == len(orders)-1 && uint64(m.len()) > 2*sortBlock {
			p.see(model.SortedBlocks)
		}
		p.exact.Map(s.Table, s.Shard).Sort(0, m.len(), compare)
		return
	}
	p.see(model.CallbackPanic)
	if after := m.digest(); after != digest {
		p.fail(Model, "a comparison panicked, and the digest of the map was %016x and is %016x", digest, after)
	}
}

func (p *player) swap(s *program.Step, m orderedMap) {
	t := p.targets(s.Refs, place{step: p.step})
	if len(t) < 2 {
		return
	}
	got, want := m.swap(t[0].id, t[1].id), p.exact.Map(s.Table, s.Shard).Swap(t[0].id, t[1].id)
	if got != want {
		p.fail(Model, "Swap of %s and %s returns %v; want %v", model.Text(t[0].id), model.Text(t[1].id), got, want)
	}
}

// sortsBy notes what a shard is put in the order of, and has its map forget the
// order it was put in if that is another one.
func (p *player) sortsBy(s *program.Step, shard int, m orderedMap) {
	at, by := [2]int{s.Table, shard}, s.Arg("by")%len(orders)+1
	if last := p.sortedBy[at]; last != 0 && last != by {
		m.defragment(nil, 0)
	}
	p.sortedBy[at] = by
}

// checkBudget compares the work of a call of Defragment with its budget, of which
// 0 is no bound.
func (p *player) checkBudget(compared, moves, budget int, done bool) {
	if budget > 0 && compared+moves > budget {
		p.fail(Model, "Defragment compares %d times and moves %d with a budget of %d", compared, moves, budget)
	}
	if budget == 0 && !done {
		p.fail(Model, "Defragment without a bound is not done")
	}
}

// seeDefragmented counts a call of Defragment over n rows. Fewer than two are in
// order anyway.
func (p *player) seeDefragmented(done bool, n int) {
	switch {
	case !done:
		p.see(model.DefragmentPaused)
	case n > 1:
		p.see(model.DefragmentDone)
	}
}

// defragment goes on with ordering a map. The comparison must be the same in
// every call, or else the map is told to forget.
func (p *player) defragment(s *program.Step, m orderedMap) {
	p.sortsBy(s, s.Shard, m)
	budget, compared := s.Arg("budget"), 0
	moves, done := m.defragment(func(a, b model.Item) int {
		compared++
		return order(s)(a, b)
	}, budget)
	p.checkBudget(compared, moves, budget, done)
	if err := p.exact.Map(s.Table, s.Shard).Follow(m.rows(), done, order(s)); err != nil {
		p.fail(Model, "%v", err)
	}
	p.seeDefragmented(done, m.len())
}
