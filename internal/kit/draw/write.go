package draw

import "handloom/internal/kit/program"

var inWrites = []program.Op{
	program.Insert, program.InsertItems, program.EmplaceItemsNow, program.InsertFunc, program.EraseNow, program.TakeNow,
	program.EraseItemsNow, program.EraseFunc, program.EraseBackward, program.Clear, program.ClearMap, program.Reset,
	program.SortFunc, program.SortByKey, program.SortRange, program.SortAs, program.Partition, program.Swap,
	program.Defragment, program.ForgetOrder, program.SetNow, program.CallNow, program.Look,
	program.SortTable, program.SortTableByKey, program.DefragmentTable, program.ReserveNow, program.Shrink, program.Clone, program.EndFrame,
}

// write draws a write: some steps at once, or a whole tick.
func (d *drawing) write() {
	d.writing, d.body = true, nil
	for range 1 + d.IntN(6) {
		if d.IntN(4) == 0 {
			if op, ok := d.pick(joins); ok {
				d.add(d.make(op))
			}
			continue
		}
		if op, ok := d.pick(inWrites); ok {
			d.writeStep(op)
		}
	}
	d.writing = false
	s := program.Step{Op: program.Write, Body: d.body}
	if d.IntN(12) == 0 {
		s = s.Set("fail", 1+d.IntN(2))
	}
	d.program.Steps = append(d.program.Steps, s)
	d.made++
}

func (d *drawing) writeStep(op program.Op) {
	s := program.Step{Op: op, Table: d.index()}
	if op.NeedsOrder() && !d.packed(s.Table) {
		return
	}
	s.Shard = d.shard(s.Table)
	switch op {
	case program.Insert, program.InsertItems, program.EmplaceItemsNow, program.InsertFunc:
		d.insert(&s)
	case program.EraseNow, program.TakeNow:
		s.Shard, s.Refs = 0, d.refs(s.Table, 1+d.IntN(3), false)
		d.gone(s.Table, s.Refs)
	case program.SetNow, program.CallNow:
		s.Shard, s.Refs = 0, d.refs(s.Table, 1+d.IntN(3), false)
		s = s.Set("v", d.IntN(d.theme.keys))
	case program.Look:
		s.Refs = d.refs(s.Table, d.IntN(6), false)
	case program.EraseItemsNow:
		s.Refs = append(d.refs(s.Table, d.IntN(4), false), d.run(s.Table))
		d.gone(s.Table, s.Refs)
	case program.EraseFunc, program.EraseBackward, program.Partition:
		s = s.Set("every", d.of(1, 2, 3, 10)).Set("rem", d.IntN(3))
	case program.Clear:
		s.Shard = 0
		d.cleared(s.Table)
	case program.SortTable, program.SortTableByKey, program.DefragmentTable:
		s.Shard = 0
		s = s.Set("by", d.of(0, 0, 0, 1, 2, 3))
	case program.SortFunc, program.SortByKey, program.Defragment:
		s = s.Set("by", d.of(0, 0, 0, 1, 2, 3))
	case program.SortRange:
		s = s.Set("by", d.IntN(4)).Set("i", d.IntN(20)).Set("j", d.IntN(60))
	case program.SortAs:
		s.Refs = append(d.refs(s.Table, d.IntN(5), false), d.run(s.Table))
	case program.Swap:
		s.Refs = d.refs(s.Table, 2, false)
	case program.ReserveNow:
		s = s.Set("n", d.size(s.Table))
	case program.Clone:
		s = s.Set("n", d.IntN(12))
	}
	switch {
	case op == program.SortTable && d.IntN(4) == 0:
		s = s.Set("panic", d.of(0, 1, 1, 2, 8)).Set("cancel", d.IntN(2))
	case op == program.Defragment || op == program.DefragmentTable:
		s = s.Set("budget", d.of(0, 1, 3, 10, 100))
	case (op == program.EraseFunc || op == program.SortFunc) && d.IntN(5) == 0:
		s = s.Set("panic", 1+d.IntN(10))
	}
	d.add(s)
}

func (d *drawing) insert(s *program.Step) {
	s.N = 1
	switch s.Op {
	case program.Insert:
		s.Shard, s.Refs = 0, d.links(false)
	case program.InsertItems, program.EmplaceItemsNow:
		s.N = d.size(s.Table)
	}
	s.Name = d.name(s.N)
	*s = s.Set("v", d.IntN(d.theme.keys))
	if (s.Op == program.EmplaceItemsNow || s.Op == program.InsertFunc) && d.IntN(6) == 0 {
		*s = s.Set("panic", 1+d.IntN(s.N+1))
		if s.Arg("panic") <= s.N {
			return
		}
	}
	k := d.known[s.Table]
	for i := range min(s.N, 300) {
		k.live = append(k.live, s.Name+i)
	}
}
