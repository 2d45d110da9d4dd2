package draw

import (
	"slices"
	"strings"

	"handloom/proof/script"
)

// The groups of operations by place.
var (
	joins    = ops(func(op script.Op) bool { return op.Alone() && op.InWrite() })
	alone    = ops(script.Op.Alone)
	inWrites = ops(func(op script.Op) bool { return op.InWrite() && !op.Alone() })
	creating = ops(func(op script.Op) bool { makes, _ := op.Makes(); return op.InTask() && makes })
	erasing  = ops(func(op script.Op) bool { return op.InTask() && erases(op) })
	failing  = []script.Op{script.FailError, script.FailPanic}
	neutral  = ops(func(op script.Op) bool {
		return op.InTask() && !slices.Contains(slices.Concat(creating, erasing, failing), op)
	})
)

// exception is the share of commands that fail their task.
const exception = 0.004

// ops returns the operations for which f is true, in the order of their numbers.
func ops(f func(op script.Op) bool) []script.Op {
	return slices.DeleteFunc(script.Ops(), func(op script.Op) bool { return !f(op) })
}

// erases reports whether the operation erases items.
func erases(op script.Op) bool {
	return strings.HasPrefix(op.String(), "erase") || op == script.Remove
}

// args draw the values of arguments by key. Zero is not written.
var args = map[string]func(d *drawing, s *script.Step) int{
	"v":       func(d *drawing, _ *script.Step) int { return d.IntN(d.theme.keys) },
	"s":       func(d *drawing, _ *script.Step) int { return d.name(1) },
	"add":     func(d *drawing, _ *script.Step) int { return d.oneOf(0, 1, 7) },
	"every":   func(d *drawing, _ *script.Step) int { return d.oneOf(0, 1, 2, 3, 10) },
	"rem":     func(d *drawing, _ *script.Step) int { return d.IntN(3) },
	"touch":   func(d *drawing, _ *script.Step) int { return d.IntN(2) },
	"wrote":   func(d *drawing, _ *script.Step) int { return d.oneOf(0, 0, 1, 2, 3) },
	"self":    func(d *drawing, _ *script.Step) int { return d.IntN(2) },
	"c":       func(d *drawing, _ *script.Step) int { return d.IntN(2 * maxColumns) },
	"d":       (*drawing).otherColumn,
	"beside":  func(d *drawing, _ *script.Step) int { return d.oneOf(0, 0, 1, 2) },
	"changes": func(d *drawing, s *script.Step) int { return d.program.Tables[s.Table].Changes * d.IntN(2) },
	"share":   func(d *drawing, _ *script.Step) int { return d.IntN(2) },
	"late":    func(d *drawing, _ *script.Step) int { return d.oneOf(0, 0, 1) },
	"as":      func(d *drawing, _ *script.Step) int { return d.oneOf(0, 0, 1, 2) },
	"saved":   func(d *drawing, _ *script.Step) int { return d.IntN(2) },
	"to":      func(d *drawing, _ *script.Step) int { return d.oneOf(0, 0, 1, 2) },
	"by":      func(d *drawing, _ *script.Step) int { return d.oneOf(0, 0, 0, 1, 2, 3) },
	"budget":  func(d *drawing, _ *script.Step) int { return d.oneOf(0, 1, 3, 10, 100) },
	"i":       func(d *drawing, _ *script.Step) int { return d.IntN(8) },
	"fail":    func(d *drawing, _ *script.Step) int { return d.rarely(8, 1+d.IntN(2)) },
	"erase":   func(d *drawing, _ *script.Step) int { return d.rarely(6, 1) },
	"tasks":   func(d *drawing, _ *script.Step) int { return d.IntN(d.theme.tasks + 1) },
}

// rarely returns value once in n times, otherwise 0.
func (d *drawing) rarely(n, value int) int {
	if d.IntN(n) == 0 {
		return value
	}
	return 0
}

// step draws the next step of the program.
func (d *drawing) step() {
	if d.IntN(40) == 0 { // toggle growth and decline
		d.theme.grow = d.Float64()
	}
	// Flush always has a weight, so one is drawn.
	op, _ := d.pick(alone)
	d.addDrawn(op)
}

// addDrawn draws a step with its body and adds it, unless its table does not allow the
// operation.
func (d *drawing) addDrawn(op script.Op) {
	if s, ok := d.make(op, -1); ok {
		d.bodyOf(&s)
		d.add(s)
		d.recordEffect(op)
	}
}

// make draws a line without its body. chunk is the table of the task's chunk,
// or -1.
func (d *drawing) make(op script.Op, chunk int) (script.Step, bool) {
	s := script.Step{Op: op}
	if op.HasTable() {
		// Half of the commands of a chunk's task are for its own table.
		if s.Table = d.index(); chunk >= 0 && d.IntN(2) == 0 {
			s.Table = chunk
		}
		// Steps for columns would do nothing in a table without columns.
		s.Table = d.withParts(op, s.Table)
	}
	// The runner would skip the step.
	if op.NeedsOrder() && !d.packed(s.Table) || op == script.EraseRow && chunk < 0 {
		return s, false
	}
	adds := op == script.AddColumn || op == script.AddSparse
	if adds && !d.mayAdd(op, s.Table) || !d.has(op, s.Table) {
		return s, false
	}
	if op == script.Misuse {
		s.Word = d.options.Misuses[d.IntN(len(d.options.Misuses))]
	}
	if adds {
		s.Word = d.element(op, s.Table)
	}
	makes, many := op.Makes()
	if makes {
		s.N = 1
		if many {
			s.N = d.size(s.Table)
		}
		s.Name = d.name(s.N)
	}
	if op.HasRefs() {
		s.Refs = d.takes(&s, makes, chunk >= 0)
	}
	// In the order of keys: arguments may depend on earlier ones, such as d on c.
	for _, key := range op.Keys() {
		if v := args[key](d, &s); v > 0 {
			s = s.Set(key, v)
		}
	}
	d.account(&s, makes)
	return s, true
}

// takes draws the references of a line: links, a target and links, or targets.
func (d *drawing) takes(s *script.Step, makes, inChunk bool) (refs []script.Ref) {
	switch {
	case s.Op == script.Unset, s.Op == script.PutSparse, s.Op == script.RemoveSparse:
		return []script.Ref{d.recorded(s.Table, inChunk)}
	case s.Op == script.Set:
		return append([]script.Ref{d.recorded(s.Table, inChunk)}, d.links(inChunk)...)
	// One target, then links.
	case s.Op.NeedsRef():
		return append(d.refs(s.Table, 1, inChunk), d.links(inChunk)...)
	case makes:
		refs = d.links(inChunk)
		if d.IntN(5) == 0 && s.Op != script.EmplaceSelf && s.Op != script.Insert {
			refs = append(refs, script.Ref{N: s.Name}) // not created yet: null
		}
		return refs
	// The last one is a run, for bulk erases.
	case s.Op == script.EraseItems:
		return append(d.refs(s.Table, d.IntN(4), inChunk), d.run(s.Table))
	case s.Op == script.Read:
		return d.refs(d.index(), d.IntN(20), false)
	}
	return d.refs(s.Table, 1+d.IntN(3), inChunk)
}

// account follows the effect of a line on the population of its table, roughly.
func (d *drawing) account(s *script.Step, makes bool) {
	k := d.known[s.Table]
	switch {
	case makes:
		// Some names of a bulk create are enough.
		for i := range min(s.N, 300) {
			if s.Op.InTask() {
				k.pending = append(k.pending, s.Name+i)
			} else {
				k.live = append(k.live, s.Name+i)
			}
		}
	case s.Op == script.Set || s.Op == script.Unset || s.Op == script.PutSparse:
		if first, n := s.Refs[0].Names(); n > 0 {
			k.set = append(k.set, first)
		}
	case s.Op == script.Clear || s.Op == script.EraseAll:
		d.cleared(s.Table)
	case erases(s.Op):
		d.gone(s.Table, s.Refs)
	}
}

// recordEffect follows the effect of a step on all tables.
func (d *drawing) recordEffect(op script.Op) {
	switch op {
	case script.Flush:
		d.flushCreates()
	case script.Discard:
		for _, k := range d.known {
			d.dead, k.pending = append(d.dead, k.pending...), nil
		}
	}
}

// bodyOf draws the body of a step.
func (d *drawing) bodyOf(s *script.Step) {
	fails := s.Op == script.Each || s.Op == script.ForEach || s.Op == script.ForEachRows || s.Op == script.ForEachSparse
	switch s.Op {
	case script.Each, script.Queues:
		s.Body = d.commands(s.Arg("tasks"), -1, fails)
	case script.ForEach, script.ForEachRows, script.ForEachSparse:
		// The number of chunks is unknown here; commands of tasks without a chunk do not
		// run.
		s.Body = d.commands(d.IntN(6), s.Table, fails)
	case script.Inbox:
		s.Body = d.commands(1, -1, fails)
	// Steps of the body go to d.body by add, which counts them; the write counts them
	// again.
	case script.Write:
		d.writing, d.body = true, nil
		// Most writes are short and change at once; frames run passes and flushes.
		steps, joining := 1+d.IntN(6), 0.25
		if d.chance(d.theme.frames) {
			steps, joining = 4+d.IntN(12), 0.7
		}
		for range steps {
			from := inWrites
			if d.chance(joining) {
				from = joins
			}
			if op, ok := d.pick(from); ok {
				d.addDrawn(op)
			}
		}
		s.Body, d.writing = d.body, false
		d.made -= len(s.Body)
	}
}

// commands draws the commands of a pass. table is the table of the tasks'
// chunks, or -1. fails allows tasks to fail.
func (d *drawing) commands(tasks, table int, fails bool) []script.Step {
	var all []script.Step
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

// command draws one command of a task.
func (d *drawing) command(chunk int, fails bool) (script.Step, bool) {
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
	if !ok {
		return script.Step{}, false
	}
	return d.make(op, chunk)
}
