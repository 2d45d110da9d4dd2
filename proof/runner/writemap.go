package runner

import (
	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// Steps of a Frame on one map.

func (y *writing) reset() {
	y.m.Reset()
	y.x.Reset()
	y.gone(y.s.Shard, every)
}

// insert inserts one item. Its links name live items: provisional handles are
// not resolved here.
func (y *writing) insert() {
	links := y.targets(y.s.Refs, place{step: y.step})
	for i := range links {
		if links[i].id>>63 == 1 {
			links[i] = target{}
		}
	}
	item := kept(y.t, value(y.made(y.s, 0), links)).Item
	id := y.t.insert(y.w, item)
	want, fits := y.exact.Insert(y.s.Table, item)
	if !fits {
		y.want(id == 0, "an insert beyond a limit returns %s", model.Text(id))
		y.full = true
		return
	}
	y.inserted([]uint64{id}, nil, []uint64{want}, true, []model.Item{item})
}

func (y *writing) insertMany() {
	items := make([]model.Item, y.s.N)
	for i := range items {
		items[i] = y.made(y.s, i)
	}
	var ids, foreseen []uint64
	var err error
	fill := func(i int, id uint64) model.Item {
		if foreseen = append(foreseen, id); y.m.has(id) {
			y.fail(Model, "%s is found before its item is filled in", model.Text(id))
		}
		return items[i]
	}
	if y.s.Op == script.InsertItems {
		ids, err = y.m.insertItems(items)
	} else {
		ids, err = y.m.emplaceItems(len(items), fill)
	}
	want := y.x.InsertItems(items)
	y.inserted(ids, err, want, want != nil, items)
	if len(foreseen) > 0 {
		y.sameHandles(foreseen, want, "the handles that callbacks are given")
	}
}

func (y *writing) inserted(ids []uint64, err error, want []uint64, fits bool, items []model.Item) {
	if !fits {
		y.expect(err, store.ErrFull, "an insert beyond a limit")
		return
	}
	if err != nil || len(ids) != len(want) {
		y.fail(Limit, "inserting %d items gives %d handles, %v; want all", len(items), len(ids), err)
		return
	}
	for i, id := range ids {
		if id != want[i] {
			y.fail(Model, "item %d is issued %s; want %s", i, model.Text(id), model.Text(want[i]))
			return
		}
		if err := y.abstract.Insert(y.s.Table, id, items[i]); err != nil {
			y.fail(Model, "%v", err)
		}
		y.bind(y.s.Name+i, id)
	}
}

// eachSingle applies the step to one item after another, through the map of the
// handle's shard, or the first map.
func (y *writing) eachSingle() {
	for _, id := range y.ids() {
		var m boundMap
		own := y.owns(y.s.Table, id)
		if y.s.Op != script.Remove { // a method of the table
			shard := 0
			if own {
				shard = int(id>>48&0x7fff) - int(y.modelled[y.s.Table].TypeID)
			}
			m = y.maps()[shard]
		}
		y.single(m, id, own)
	}
}

func (y *writing) single(m boundMap, id uint64, own bool) {
	item, _, lives := y.abstract.Find(id)
	lives = lives && own
	got := lives
	switch y.s.Op {
	case script.EraseNow:
		got = m.erase(id)
	case script.Remove:
		got = y.t.remove(y.w, id)
		y.exact.Remove(y.s.Table, id, y.exposed[y.s.Table])
	case script.SetNow:
		m.set(id, uint64(y.s.Arg("v")))
	}
	if got != lives {
		y.accepted(id, got)
	}
	switch {
	case erasing(y.s.Op) && y.exact.Erase(y.s.Table, id) != y.abstract.Erase(y.s.Table, id):
		y.fail(Model, "the models differ over erasing %s", model.Text(id))
	case !erasing(y.s.Op) && lives:
		item.Key = uint64(y.s.Arg("v"))
		y.abstract.Set(id, item)
		*y.exact.Item(id) = item
	}
}

func erasing(op script.Op) bool {
	return op == script.EraseNow || op == script.Remove
}

func (p *executor) owns(table int, id uint64) bool {
	typeID := int(id>>48) & 0x7fff
	first := int(p.modelled[table].TypeID)
	return typeID >= first && typeID < first+p.modelled[table].Shards
}

func (y *writing) eraseMany() {
	ids := y.ids()
	got, want := y.m.eraseItems(ids), y.x.EraseItems(ids)
	n := 0
	for _, id := range ids {
		if uint16(id>>48)&0x7fff == y.x.TypeID && y.abstract.Erase(y.s.Table, id) {
			n++
		}
	}
	y.same("EraseItems", [2]int{got, n}, [2]int{want, want})
}

func (y *writing) eraseFunc() {
	f := picking(y.s)
	y.same("EraseFunc", y.m.eraseFunc(f), y.x.EraseWhere(f))
	y.gone(y.s.Shard, f)
}
