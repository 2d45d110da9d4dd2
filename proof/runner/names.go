package runner

import (
	"handloom/proof/model"
	"handloom/proof/script"
)

// variable is the handle of a name.
type variable struct {
	id          uint64 // handle; provisional until the flush, and if the create was dropped or cancelled
	provisional uint64

	// Place of the create: number of the step and, in a pass, the task and the
	// index in it.
	step, task, at int
	table          int
}

// nameAll finds the place of each create, so that a task can decide without
// synchronization whether a name is bound.
func (p *executor) nameAll() {
	p.names, p.order = make(map[int]*variable), make(map[*script.Step]int)
	p.number(p.program.Steps)
}

// number numbers the steps in the order in which they run. A body of tasks has the number
// of its step.
func (p *executor) number(steps []script.Step) {
	for i := range steps {
		s := &steps[i]
		p.step++
		p.order[s] = p.step
		// A step of a write has no task; its creates are bound when the step has run.
		p.declare(s, 0, 0)
		if s.Op == script.Write {
			p.number(s.Body)
			continue
		}
		at := make(map[int]int) // by task
		for k := range s.Body {
			c := &s.Body[k]
			// The index is within the task, because tasks of one step run in any order.
			at[c.Task]++
			p.declare(c, c.Task, at[c.Task])
		}
	}
}

// declare notes the place of the creates of a step.
func (p *executor) declare(s *script.Step, task, at int) {
	for n := s.Name; s.Name > 0 && n < s.Name+s.N; n++ {
		p.names[n] = &variable{step: p.step, task: task, at: at, table: s.Table}
	}
}

// place is the point of the program from which a reference is seen.
type place struct {
	step, task, at int
	chunk          []uint64 // of the task
}

// visible returns the variable of a name that is bound at a place, or nil. A task sees its
// own earlier creates, but no creates of other tasks of the same step: they may run at any
// time.
func (p *executor) visible(n int, at place) *variable {
	v := p.names[n]
	if v == nil || v.step > at.step || v.step == at.step && (v.task != at.task || v.at >= at.at) {
		return nil
	}
	return v
}

// target is a handle for the models.
type target struct {
	id   uint64
	name int // name of its create, if provisional; else 0
}

// targets returns the handles of references. An unbound reference is null, so that each
// program can run.
func (p *executor) targets(refs []script.Ref, at place) []target {
	var all []target
	for i := range refs {
		r := &refs[i]
		first, n := r.Names()
		switch r.Kind {
		case script.Row:
			t := target{}
			if r.N < len(at.chunk) {
				t.id = at.chunk[r.N]
			}
			all = append(all, p.forge(t, r.Forge))
		case script.Raw:
			all = append(all, p.forge(target{id: r.Bits}, r.Forge))
		}
		for k := first; k < first+n; k++ {
			all = append(all, p.forge(p.named(k, r.Kind, at), r.Forge))
		}
	}
	return all
}

// named returns the handle of a name at a place.
func (p *executor) named(n int, kind script.RefKind, at place) target {
	v := p.visible(n, at)
	if v == nil {
		return target{}
	}
	id := v.id
	if kind == script.Provisional {
		id = v.provisional
	}
	// The model finds the create of a provisional handle by its name, not by its bits.
	if id>>63 == 1 {
		return target{id, n}
	}
	return target{id: id}
}

// forge makes a forged handle. A provisional handle becomes null, because its
// bits differ from run to run.
func (p *executor) forge(t target, how []script.Forge) target {
	if len(how) == 0 {
		return target{p.apart(t), t.name}
	}
	if t.name != 0 {
		return target{}
	}
	id := t.id
	for _, f := range how {
		switch f.Kind {
		case script.NextGeneration:
			id += 1 << 32
		case script.PreviousGeneration:
			id -= 1 << 32
		case script.NextSlot:
			id = id&^(1<<32-1) | uint64(uint32(id)+1)
		case script.FlipBit:
			id ^= 1 << f.N
		case script.OtherTable:
			id = id&^(0x7fff<<48) | uint64(p.modelled[f.N].TypeID)<<48
		}
	}
	return target{id: p.apart(target{id: id})}
}

// apart changes a forged handle that could equal a provisional handle, whose
// create would be unknown.
func (p *executor) apart(t target) uint64 {
	if t.name != 0 || t.id>>63 == 0 {
		return t.id
	}
	for i := range p.modelled {
		if typeID := uint16(t.id>>48) & 0x7fff; typeID == p.modelled[i].TypeID {
			return t.id | 1<<47 // a batch number that no program reaches
		}
	}
	return t.id
}

// value returns the recorded value of an item. The first three handles are its
// links.
func value(item model.Item, links []target) model.Value {
	v := model.Value{Item: item}
	for i := range min(len(links), model.Links) {
		v.Links[i], v.Names[i] = links[i].id, links[i].name
	}
	return v
}

// bind gives a name its handle. Each name is bound by one task, and read by others only in
// later steps.
func (p *executor) bind(name int, id uint64) {
	v := p.names[name]
	v.id = id
	if id>>63 == 1 {
		// The name keeps it, so that a program can use a stale one later.
		v.provisional = id
	}
}
