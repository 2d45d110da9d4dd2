package play

import (
	"context"
	"errors"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

var errWrite = errors.New("the write fails")

// write holds the store alone for the steps of its body. What they changed stays
// when it fails, by an error (fail=1) or a panic (fail=2).
func (p *player) write(ctx context.Context, s *program.Step) {
	err := p.guarded(func() error {
		return p.store.Write(ctx, func(ctx context.Context, w *store.Writer) error {
			p.sealed = false
			for i := range s.Body {
				if p.failed() {
					break
				}
				p.do(ctx, &s.Body[i], w)
			}
			p.line = s
			switch {
			case p.failed():
			case s.Arg("fail") == 1:
				return errWrite
			case s.Arg("fail") == 2:
				panic(errWrite)
			}
			return nil
		})
	}, errWrite)
	if wants := s.Arg("fail") == 1 || s.Arg("fail") == 2; wants && !p.failed() {
		p.expect(err, errWrite, "Write")
		p.see(model.WriteFailed)
	} else if err != nil {
		p.fail(Model, "Write: %v", err)
	}
	if !p.failed() {
		p.inspect(ctx)
		p.inspectFigures()
		p.mark(ctx, "write")
	}
}

// guarded calls f and returns its error or what it panicked with, if that is one
// of the program's own.
func (p *player) guarded(f func() error, own error) (err error) {
	defer func() {
		if v := recover(); v == own {
			err = own
		} else if v != nil {
			panic(v)
		}
	}()
	return f()
}

// writeStep does one step of a write that is none of its own phase.
func (p *player) writeStep(ctx context.Context, s *program.Step, w *store.Writer) {
	switch s.Op {
	case program.EndFrame:
		w.EndFrame()
		p.sealed = false
	case program.Insert:
		p.insert(s, w)
	case program.Clear:
		p.tables[s.Table].clear(w)
		p.exact.Clear(s.Table)
		p.abstract.EraseWhere(s.Table, -1, every)
	case program.SortTable, program.SortTableByKey, program.DefragmentTable:
		if t, ok := p.tables[s.Table].(orderedTable); ok {
			p.reorderTable(ctx, s, t, w)
		}
	case program.EraseNow, program.TakeNow, program.SetNow, program.CallNow:
		for _, t := range p.targets(s.Refs, place{step: p.step}) {
			p.single(s, p.mapOf(s, w, t.id), t.id)
		}
	default:
		m := p.tables[s.Table].maps(w)[s.Shard]
		if ordered, ok := m.(orderedMap); ok && s.Op.NeedsOrder() {
			p.reorder(s, ordered)
		} else if !s.Op.NeedsOrder() {
			p.bulk(s, m)
		}
	}
}

func every(model.Item) bool { return true }

// mapOf returns the map of the table that a handle belongs to, or the first.
func (p *player) mapOf(s *program.Step, w *store.Writer, id uint64) boundMap {
	maps := p.tables[s.Table].maps(w)
	if shard := int(uint16(id>>48)&0x7fff) - int(p.modelled[s.Table].TypeID); shard >= 0 && shard < len(maps) {
		return maps[shard]
	}
	return maps[0]
}

// insert inserts one item. Its links are of live items: nothing makes a
// provisional handle real here.
func (p *player) insert(s *program.Step, w *store.Writer) {
	links := p.targets(s.Refs, place{step: p.step})
	for i := range links {
		if links[i].id>>63 == 1 {
			links[i] = target{}
		}
	}
	item := p.kept(s.Table, value(p.made(s, 0), links)).Item
	id, err := p.tables[s.Table].insert(w, item)
	want, fits := p.exact.Insert(s.Table, item)
	p.inserted(s, []uint64{id}, err, []uint64{want}, fits, []model.Item{item})
}

// inserted compares what an insert of any kind gave.
func (p *player) inserted(s *program.Step, ids []uint64, err error, want []uint64, fits bool, items []model.Item) {
	if !fits {
		p.expect(err, store.ErrFull, "an insert beyond a limit")
		return
	}
	if err != nil || len(ids) != len(want) {
		p.fail(Limit, "inserting %d items gives %d handles, %v; want all", len(items), len(ids), err)
		return
	}
	for i, id := range ids {
		if id != want[i] {
			p.fail(Model, "item %d is issued %s; want %s", i, model.Text(id), model.Text(want[i]))
			return
		}
		if err := p.abstract.Insert(s.Table, id, items[i]); err != nil {
			p.fail(Model, "%v", err)
		}
		p.bind(s.Name+i, id)
	}
}

// single does something to one item.
func (p *player) single(s *program.Step, m boundMap, id uint64) {
	item, _, lives := p.abstract.Find(id)
	lives = lives && p.owns(s.Table, id)
	switch s.Op {
	case program.EraseNow:
		if got := m.erase(id); got != lives {
			p.accepted(id, got)
		}
	case program.TakeNow:
		if got, ok := m.take(id); ok != lives || ok && got != item {
			p.fail(Model, "Take(%s) is %+v, %v; want %+v, %v", model.Text(id), got, ok, item, lives)
		}
	case program.SetNow, program.CallNow:
		p.change(s, m, id, lives, item)
		return
	}
	if p.exact.Erase(s.Table, id) != p.abstract.Erase(s.Table, id) {
		p.fail(Model, "the models differ over erasing %s", model.Text(id))
	}
}

// change sets the key of one item in place.
func (p *player) change(s *program.Step, m boundMap, id uint64, lives bool, item model.Item) {
	set := func(key *uint64) { *key = uint64(s.Arg("v")) }
	if s.Op == program.SetNow {
		m.set(id, set)
	} else if got := m.call(id, set); got != lives {
		p.accepted(id, got)
	}
	if lives && p.program.Tables[s.Table].Item != program.Empty {
		item.Key = uint64(s.Arg("v"))
		p.abstract.Set(id, item)
		*p.exact.Item(id) = item
	}
}

// owns reports whether a handle has one of the table's typeIds.
func (p *player) owns(table int, id uint64) bool {
	typeID := int(id>>48) & 0x7fff
	first := int(p.modelled[table].TypeID)
	return typeID >= first && typeID < first+p.modelled[table].Shards
}
