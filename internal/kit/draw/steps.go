package draw

import "handloom/internal/kit/program"

// alone are the operations that stand alone, joins those of them that may stand
// in a write.
var (
	joins = []program.Op{
		program.Each, program.ForEach, program.Inbox, program.Flush, program.FlushCancelled, program.FlushCancelPlan,
		program.FlushCancelLate, program.FlushLinkPanic, program.Reduce, program.Checkpoint, program.Rollback, program.Schedule,
	}
	alone = append([]program.Op{
		program.Queues, program.Discard, program.Read, program.Write,
		program.Misuse,
	}, joins...)
)

// step draws a step.
func (d *drawing) step() {
	if d.options.Misusing && d.IntN(2) == 0 {
		d.add(d.misuse())
		return
	}
	if d.IntN(40) == 0 { // growth and decline take turns
		d.theme.grow = d.Float64()
	}
	op, _ := d.pick(alone)
	if op == program.Write {
		d.write()
		return
	}
	d.add(d.make(op))
}

func (d *drawing) misuse() program.Step {
	return program.Step{Op: program.Misuse, Word: d.options.Misuses[d.IntN(len(d.options.Misuses))]}
}

// make draws the rest of a step that may stand alone.
func (d *drawing) make(op program.Op) program.Step {
	s := program.Step{Op: op}
	switch op {
	case program.Each, program.Queues:
		tasks := d.IntN(d.theme.tasks + 1)
		s = s.Set("tasks", tasks)
		s.Body = d.commands(tasks, -1, op == program.Each)
	case program.ForEach:
		s.Table = d.index()
		s.Body = d.commands(d.IntN(6), s.Table, true)
		s = s.Set("add", d.of(0, 1, 7)).Set("touch", d.IntN(2))
		if d.IntN(2) == 0 {
			s = s.Set("every", d.of(2, 3, 10)).Set("rem", d.IntN(3))
		}
	case program.Checkpoint:
		s = s.Set("as", d.of(0, 0, 1, 2))
	case program.Rollback:
		s = s.Set("to", d.of(0, 0, 1, 2))
	case program.Schedule:
		tasks := 1 + d.IntN(6)
		s = s.Set("tasks", tasks).Set("reader", d.IntN(tasks+2))
		s.Body = d.commands(tasks, -1, false)
		d.settle()
	case program.Inbox:
		s.Body = d.commands(1, -1, false)
		s = s.Set("fail", d.of(0, 0, 0, 1)).Set("late", d.of(0, 0, 1))
	case program.Flush:
		d.settle()
	case program.FlushLinkPanic:
		s = s.Set("n", 1+d.IntN(5))
	case program.Discard:
		for _, k := range d.known {
			d.dead, k.pending = append(d.dead, k.pending...), nil
		}
	case program.Reduce:
		s.Table = d.index()
	case program.Read:
		s.Refs = d.refs(d.index(), d.IntN(20), false)
	case program.Misuse:
		s = d.misuse()
	}
	if (op == program.Each || op == program.ForEach) && d.IntN(25) == 0 {
		s = s.Set("cancel", 1)
	}
	return s
}

// commands draws what the tasks of a pass record. table is the one whose chunks
// the tasks have, or -1; fails says that tasks may fail.
func (d *drawing) commands(tasks, table int, fails bool) []program.Step {
	var all []program.Step
	for task := range tasks {
		for range d.IntN(d.theme.busy) {
			if c, ok := d.command(table, fails); ok {
				c.Task = task
				all = append(all, c)
			}
		}
	}
	return all
}

var (
	creating  = []program.Op{program.Emplace, program.EmplaceItems, program.EmplaceFunc}
	erasing   = []program.Op{program.Erase, program.EraseItems, program.EraseID, program.EraseRow}
	neutral   = []program.Op{program.Staged, program.Put, program.Put, program.Has, program.ReduceInTask}
	failing   = []program.Op{program.FailError, program.FailPanic, program.FailGoexit}
	exception = 0.004 // share of commands that fail their task
)

// command draws one command of a task.
func (d *drawing) command(chunk int, fails bool) (program.Step, bool) {
	from := erasing
	switch {
	case fails && d.chance(exception):
		from = failing
	case d.chance(0.35):
		from = neutral
	case d.chance(d.theme.grow):
		from = creating
	}
	op, ok := d.pick(from)
	if !ok || op == program.EraseRow && chunk < 0 || op == program.FailGoexit && d.writing {
		return program.Step{}, false
	}
	s := program.Step{Op: op, Table: d.index()}
	inChunk := chunk >= 0
	if inChunk && d.IntN(2) == 0 {
		s.Table = chunk
	}
	switch op {
	case program.Emplace, program.EmplaceItems, program.EmplaceFunc:
		d.create(&s, inChunk)
	case program.Staged, program.Put:
		s.Refs = append(d.refs(s.Table, 1, inChunk), d.links(inChunk)...)
		s = s.Set("v", d.IntN(d.theme.keys)).Set("s", d.name(1))
	case program.Erase, program.EraseID:
		s.Refs = d.refs(s.Table, 1+d.IntN(2), inChunk)
		d.gone(s.Table, s.Refs)
	case program.EraseItems:
		s.Refs = append(d.refs(s.Table, d.IntN(3), inChunk), d.run(s.Table))
		d.gone(s.Table, s.Refs)
	case program.EraseRow:
		s = s.Set("i", d.IntN(6))
	case program.Has:
		s.Refs = d.refs(s.Table, d.IntN(5), inChunk)
	}
	return s, true
}

func (d *drawing) create(s *program.Step, inChunk bool) {
	s.N = 1
	if s.Op == program.EmplaceItems {
		s.N = d.size(s.Table)
	}
	s.Name = d.name(s.N)
	s.Refs = d.links(inChunk)
	if d.IntN(5) == 0 && s.Op != program.EmplaceFunc {
		s.Refs = append(s.Refs, program.Ref{N: s.Name}) // not made yet: null
	}
	*s = s.Set("v", d.IntN(d.theme.keys))
	if s.Op == program.EmplaceItems && d.program.Tables[s.Table].Item == program.Rich {
		*s = s.Set("share", d.IntN(2))
	}
	if s.Op == program.EmplaceFunc {
		*s = s.Set("self", d.IntN(2))
		if d.IntN(10) == 0 {
			*s = s.Set("panic", 1)
			return
		}
	}
	k := d.known[s.Table]
	for i := range min(s.N, 300) {
		k.pending = append(k.pending, s.Name+i)
	}
}
