package play

import (
	"fmt"
	"slices"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

// bulk does one step to the map of a shard, whatever its kind.
func (p *player) bulk(s *program.Step, m boundMap) {
	switch s.Op {
	case program.InsertItems, program.EmplaceItemsNow, program.InsertFunc:
		p.insertMany(s, m)
	case program.EraseItemsNow:
		p.eraseMany(s, m)
	case program.EraseFunc:
		p.eraseFunc(s, m)
	case program.EraseBackward:
		f := picking(s)
		m.eraseBackward(f)
		p.exact.Map(s.Table, s.Shard).EraseBackward(f)
		p.abstract.EraseWhere(s.Table, s.Shard, f)
	case program.ClearMap:
		m.clearAll()
		p.exact.Map(s.Table, s.Shard).Clear()
		p.abstract.EraseWhere(s.Table, s.Shard, every)
	case program.Reset:
		m.reset()
		delete(p.sortedBy, [2]int{s.Table, s.Shard})
		p.exact.Map(s.Table, s.Shard).Reset()
		p.abstract.EraseWhere(s.Table, s.Shard, every)
	case program.ReserveNow:
		p.sameDigest(m, func() { m.reserve(s.Arg("n")) })
	case program.Shrink:
		p.sameDigest(m, m.shrink)
	case program.Clone:
		p.clone(s, m)
	case program.Look:
		p.look(s, m)
	}
}

// picking is what a step erases, or moves to the front.
func picking(s *program.Step) func(model.Item) bool {
	every, rem := s.Arg("every"), s.Arg("rem")
	return func(i model.Item) bool { return picks(every, rem, i.Key) }
}

// sameDigest sees that something that changes capacity changes nothing else.
func (p *player) sameDigest(m boundMap, f func()) {
	before := m.digest()
	f()
	if after := m.digest(); after != before {
		p.fail(Model, "the digest of the map was %016x and is %016x", before, after)
	}
}

func (p *player) madeMany(s *program.Step) []model.Item {
	items := make([]model.Item, s.N)
	for i := range items {
		items[i] = p.made(s, i)
	}
	return items
}

// insertMany inserts items in one call. With panic=k the callback panics at the
// k-th, and then nothing is inserted.
func (p *player) insertMany(s *program.Step, m boundMap) {
	items := p.madeMany(s)
	var ids []uint64
	var err error
	var foreseen []uint64
	fill := func(i int, id uint64) model.Item {
		foreseen = append(foreseen, id)
		if s.Op != program.InsertItems && s.Arg("panic") == i+1 {
			panic(errTask)
		}
		return items[i]
	}
	digest := m.digest()
	thrown := p.guarded(func() error {
		switch s.Op {
		case program.InsertItems:
			ids, err = m.insertItems(items)
		case program.EmplaceItemsNow:
			ids, err = m.emplaceItems(len(items), fill)
		default:
			var id uint64
			id, err = m.insertFunc(func(id uint64) model.Item { return fill(0, id) })
			ids = []uint64{id}
		}
		return nil
	}, errTask)
	if thrown != nil {
		p.see(model.CallbackPanic)
		if after := m.digest(); after != digest {
			p.fail(Model, "a callback panicked, and the digest of the map was %016x and is %016x", digest, after)
		}
		return
	}
	want := p.exact.Map(s.Table, s.Shard).InsertItems(items)
	p.inserted(s, ids, err, want, want != nil, items)
	for i, id := range foreseen {
		if i >= len(want) || id != want[i] {
			p.fail(Model, "the callback of item %d is given %s; want %s", i, model.Text(id), list(want))
			return
		}
	}
}

func (p *player) eraseMany(s *program.Step, m boundMap) {
	var ids []uint64
	for _, t := range p.targets(s.Refs, place{step: p.step}) {
		ids = append(ids, t.id)
	}
	got, want := m.eraseItems(ids), p.exact.Map(s.Table, s.Shard).EraseItems(ids)
	n := 0
	for _, id := range ids {
		if int(id>>48&0x7fff) == int(p.modelled[s.Table].TypeID)+s.Shard && p.abstract.Erase(s.Table, id) {
			n++
		}
	}
	if got != want || n != want {
		p.fail(Model, "EraseItems of %s returns %d; want %d, %d", list(ids), got, want, n)
	}
}

// eraseFunc erases by a function, which panics at its k-th call with panic=k.
func (p *player) eraseFunc(s *program.Step, m boundMap) {
	f, calls, got := picking(s), 0, 0
	digest := m.digest()
	thrown := p.guarded(func() error {
		got = m.eraseFunc(func(i model.Item) bool {
			if calls++; calls == s.Arg("panic") {
				panic(errTask)
			}
			return f(i)
		})
		return nil
	}, errTask)
	if thrown != nil {
		p.see(model.CallbackPanic)
		if after := m.digest(); after != digest {
			p.fail(Model, "a callback panicked, and the digest of the map was %016x and is %016x", digest, after)
		}
		return
	}
	if want := p.exact.Map(s.Table, s.Shard).EraseWhere(f); got != want {
		p.fail(Model, "EraseFunc returns %d; want %d", got, want)
	}
	p.abstract.EraseWhere(s.Table, s.Shard, f)
}

// clone copies the map and lets the copy go its own way, as a model of the shard
// alone does.
func (p *player) clone(s *program.Step, m boundMap) {
	c, digest, err := m.copied()
	if want := m.digest(); digest != want || err != nil {
		p.fail(Model, "a clone has digest %016x, %v; want %016x", digest, err, want)
	}
	alone := p.exact.Map(s.Table, s.Shard).Clone()
	alone.Seen = nil
	if err := p.evolve(s, c, alone); err != nil {
		p.fail(Model, "a clone %v", err)
		return
	}
	if err := c.verify(); err != nil {
		p.fail(Invariant, "a clone: %v", err)
	}
	if got, want := c.rows(), alone.Handles(); !slices.Equal(got, want) {
		p.fail(Model, "a clone holds %s; want %s", list(got), list(want))
	}
	p.varyEach(s, c)
	if after := m.digest(); after != digest {
		p.fail(Model, "a clone changed, and with it the digest of the map from %016x to %016x", digest, after)
	}
}

// varyEach changes the fields of an item of a clone one by one and sees that the
// digest tells.
func (p *player) varyEach(s *program.Step, c boundMap) {
	rows, before := c.rows(), c.digest()
	if len(rows) == 0 {
		return
	}
	for field := 0; c.vary(rows[0], field); field++ {
		after := c.digest()
		if after == before {
			p.fail(Model, "field %d of %s changed, and the digest is still %016x", field, model.Text(rows[0]), after)
		}
		before = after
	}
	if p.program.Tables[s.Table].Item == program.Rich {
		p.see(model.FieldsDigested)
	}
}

// evolve inserts items into a clone and its model, and erases every third again,
// and the first row.
func (p *player) evolve(s *program.Step, c boundMap, alone *model.Map[model.Item]) error {
	erase := func(id uint64) error {
		if got, want := c.erase(id), alone.Erase(id); got != want {
			return fmt.Errorf("erases %s: %v; want %v", model.Text(id), got, want)
		}
		return nil
	}
	for i := range s.Arg("n") {
		item := p.tables[s.Table].keeps(model.Item{Key: uint64(i)})
		got, err := c.insertItems([]model.Item{item})
		want := alone.InsertItems([]model.Item{item})
		switch {
		case want == nil:
			err = wraps(err, store.ErrFull)
		case err != nil || !slices.Equal(got, want):
			err = fmt.Errorf("issues %s, %v; want %s", list(got), err, list(want))
		case i%3 == 0:
			p.see(model.CloneDiverged)
			err = erase(got[0])
		}
		if err != nil {
			return err
		}
	}
	if rows := alone.Handles(); s.Arg("n") > 0 && len(rows) > 0 {
		return erase(rows[0])
	}
	return nil
}
