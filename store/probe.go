package store

import (
	"fmt"
	"runtime"
	"slices"

	"handloom/batch"
	"handloom/internal/check"
	"handloom/internal/entrance"
)

// probe watches one item of the store for a [entrance.Probe]. It is nil in programs; phases, passes,
// flushes and Writers call it if it is not.
type probe struct {
	store   *Store
	workers int // Options.Workers without the probe
	table   *table
	id      ID
	row     int // of the item before the running flush; -1: none
	cells   []*cell
	changes []entrance.Change

	// Since the phase that holds the store opened:
	last    boundary
	steps   int // boundaries
	phase   int // step at which the newest phase opened
	passes  int
	flushes int
	writing immediate

	wanted []*entrance.Cause
}

// boundary is the name of a boundary, with a number unless that is negative.
type boundary struct {
	name   string
	number int
}

func (b boundary) String() string {
	if b.number < 0 {
		return b.name
	}
	return fmt.Sprintf("%s %d", b.name, b.number)
}

var (
	theStart = boundary{"the start", -1}
	theEnd   = boundary{"the end", -1}
)

// immediate is an operation of a Writer that has begun since the last boundary.
type immediate struct {
	table     *table
	operation string
	data      *sparseData // of a Put or Remove of one item
	id        ID
	step      int
}

// recording is the Origin of a pass.
type recording struct {
	number int
	phase  string
	system string
	step   int
}

// located is the Place of a cause: a boundary of the tick, or a command of a pass.
type located struct {
	step    int
	pass    int
	command *batch.Command // nil: the boundary
}

func (s *Store) newProbe() (entrance.Probe, error) {
	s.made("a probe")
	if !s.gate.tryAcquire(false) {
		return nil, fmt.Errorf("store: probe: %w: a phase is open; call it outside phases", ErrPhase)
	}
	defer s.gate.release(false)
	b := &probe{store: s, workers: s.options.Workers, last: theEnd}
	s.options.Workers, s.probe = 1, b
	return b, nil
}

func (b *probe) Close() {
	b.store.options.Workers, b.store.probe = b.workers, nil
	b.store.batch.UnmarkCalls()
}

func (b *probe) Watch(id uint64, field string) error {
	t := b.store.owner(ID(id))
	if t == nil || ID(id).IsProvisional() || ID(id).IsZero() {
		return fmt.Errorf("store: probe: no table has an item %v", ID(id))
	}
	cells, err := t.cells(field)
	if err != nil {
		return fmt.Errorf("store: probe: %w", err)
	}
	b.table, b.id, b.cells = t, ID(id), cells
	t.recorder.MarkCalls(int(b.id.TypeID() - t.first))
	b.rebase()
	return nil
}

func (b *probe) Lives() bool { return b.table != nil && b.table.has(b.id) }

func (b *probe) Take() []entrance.Change {
	taken := b.changes
	b.changes = nil
	return taken
}

func (b *probe) Locate(causes []*entrance.Cause) { b.wanted = causes }

// rebase forgets all changes: the state is another.
func (b *probe) rebase() {
	b.changes, b.writing, b.last = nil, immediate{}, theStart
	b.steps, b.passes, b.flushes = 0, 0, 0
	for _, c := range b.cells {
		c.take(b.id)
	}
}

// look compares the item at a boundary. The code before it, or the phase, ran in p.
func (b *probe) look(at boundary, p *phase) {
	for _, c := range b.cells {
		if c.changed(b.id) {
			b.report(c, func(had, has bool) (entrance.Cause, []entrance.Cause) { return b.writer(c, at, p, had != has), nil })
		}
	}
	b.last, b.writing = at, immediate{}
}

// report adds the change of a cell, with the causes that by returns.
func (b *probe) report(c *cell, by func(had, has bool) (entrance.Cause, []entrance.Cause)) {
	had := c.has
	change := entrance.Change{Field: c.name, From: c.oldText()}
	c.take(b.id)
	change.To = c.oldText()
	change.By, change.Lost = by(had, c.has)
	b.changes = append(b.changes, change)
}

// writer returns the cause of a write in p between the last boundary and at.
func (b *probe) writer(c *cell, at boundary, p *phase, appears bool) entrance.Cause {
	by := entrance.Cause{Kind: "in place", Pass: -1, Task: -1, Sequence: -1, Phase: fmt.Sprintf("between %v and %v", b.last, at)}
	if y := p.systemOf(); y != nil {
		by.System = y.Name
	}
	if w := &b.writing; w.explains(c, b.id, appears) {
		by.Kind, by.Phase, by.Place = "at once", w.operation, located{step: w.step}
	}
	return by
}

// explains reports whether only the operation can have made the change.
func (w *immediate) explains(c *cell, id ID, appears bool) bool {
	if w.data != nil {
		appears = w.id == id && c.part == &w.data.component
	}
	return w.table == c.table && appears
}

// step begins the next boundary, and finds the line of causes that are there.
func (b *probe) step() int {
	b.steps++
	for _, c := range b.wanted {
		if at, ok := c.Place.(located); ok && at.command == nil && at.step == b.steps {
			c.Where = stackLine()
		}
	}
	return b.steps
}

// stackLine returns the line of the program that called the library.
func stackLine() string {
	var callers [64]uintptr
	return check.Line(callers[:runtime.Callers(2, callers[:])])
}

// opened is called when a phase has opened.
func (b *probe) opened(p *phase) {
	if p.op.shared() {
		return
	}
	if p.outer == nil {
		b.steps, b.passes, b.flushes = 0, 0, 0
	}
	b.phase = b.step()
	b.look(b.opening(p), p.outer)
	if p.op == opFlush && b.table != nil {
		b.row = -1
		if row, ok := b.table.order[b.shard()].Map.RowOf(b.id); ok {
			b.row = row
		}
	}
}

// opening returns the name of the beginning of a phase.
func (b *probe) opening(p *phase) boundary {
	switch {
	case p.op == opSystem:
		return boundary{fmt.Sprintf("the start of system %q", p.system.Name), -1}
	case p.op.records():
		return boundary{"pass", b.passes}
	case p.op == opFlush:
		return boundary{"flush", b.flushes}
	case p.outer == nil:
		return theStart
	}
	return boundary{p.op.String(), -1}
}

// records reports whether phases of the kind are passes with queues, which have numbers.
func (o operation) records() bool {
	return slices.Contains([]operation{opForEach, opForEachRows, opEach, opDo, opEraseFunc, opOrphans}, o)
}

// released is called before a phase ends.
func (b *probe) released(p *phase) {
	switch {
	case p.op.shared():
	case p.op == opFrame || p.op == opWrite:
		b.look(theEnd, p)
	case p.op == opSystem:
		b.look(boundary{fmt.Sprintf("the end of system %q", p.system.Name), -1}, p)
	case p.op == opRun:
		b.look(boundary{"the end of the schedule", -1}, p)
	default:
		b.inside(p, -1, nil)
	}
}

// system runs a system, whose phase does not open.
func (b *probe) system(p *phase) error {
	b.opened(p)
	err := p.system.Run(p)
	b.released(p)
	return err
}

// inside compares the item after a task of the pass o, or at the end of a phase that runs no code
// between phases.
func (b *probe) inside(p *phase, task int, o *recording) {
	for _, c := range b.cells {
		if c.changed(b.id) {
			b.report(c, func(bool, bool) (entrance.Cause, []entrance.Cause) { return b.writerInside(p, task, o), nil })
		}
	}
	b.writing = immediate{}
	switch {
	case p.op.records():
		b.last = boundary{"pass", b.passes - 1}
	case p.op != opFlush:
		b.last = boundary{p.op.String(), -1}
	}
}

func (b *probe) writerInside(p *phase, task int, o *recording) entrance.Cause {
	by := entrance.Cause{Kind: "in place", Phase: p.op.String(), Pass: -1, Task: task, Sequence: -1}
	if y := p.systemOf(); y != nil {
		by.System = y.Name
	}
	if p.op.records() {
		by.Pass = b.passes - 1
	}
	switch p.op {
	case opExchange:
		by.Kind, by.Place = "at once", located{step: b.phase}
	case opFold: // without tasks, but with the line that calls it
		by.Place = located{step: b.phase}
	}
	if o != nil {
		by.Place = o.place()
	}
	return by
}

// pass numbers a pass that is about to run, and returns its tasks with a comparison after each.
func (b *probe) pass(p *phase, queues *batch.Pass, task func(int) error) func(int) error {
	o := b.begin(queues, p.op, p.systemOf())
	return func(i int) error {
		defer b.inside(p, i, o)
		if len(b.wanted) > 0 {
			defer b.wire(queues, i, o.number)()
		}
		return task(i)
	}
}

// begin numbers a pass.
func (b *probe) begin(queues *batch.Pass, op operation, y *system) *recording {
	o := &recording{number: b.passes, phase: op.String(), step: b.step()}
	if y != nil {
		o.system = y.Name
	}
	b.passes++
	queues.Origin = o
	return o
}

func (o *recording) place() any { return located{step: o.step, pass: o.number} }

// wire watches for the wanted commands of a task, and returns a function that ends it.
func (b *probe) wire(queues *batch.Pass, task, pass int) func() {
	wires := make(map[*entrance.Cause]*batch.Wire)
	for _, c := range b.wanted {
		if at, ok := c.Place.(located); ok && at.command != nil && at.pass == pass && c.Task == task {
			wires[c] = queues.Wire(task, &b.table.recorder, *at.command)
		}
	}
	return func() {
		for c, w := range wires {
			c.Where = check.Line(w.Callers())
		}
		queues.Unwire(task)
	}
}

// writes is called before an operation of a Writer on t.
func (b *probe) writes(w *Writer, t *table, operation string) {
	at := b.step()
	b.look(boundary{operation, -1}, w.phase)
	b.writing = immediate{table: t, operation: operation, step: at}
}

// writesItem is called after writes, for an operation on the sparse data of one item.
func (b *probe) writesItem(c *sparseData, id ID) { b.writing.data, b.writing.id = c, id }

func (b *probe) shard() int { return int(b.id.TypeID() - b.table.first) }

// flushed is called when a flush has applied its commands and still has them.
func (b *probe) flushed(f *flush) {
	for _, c := range b.cells {
		if c.changed(b.id) {
			b.report(c, func(_, has bool) (entrance.Cause, []entrance.Cause) { return b.commands(f, c) })
		}
	}
	b.flushes++
}

// commands returns the command of a flush that gave a cell its value, or removed it, and the others
// for the cell.
func (b *probe) commands(f *flush, c *cell) (by entrance.Cause, lost []entrance.Cause) {
	to := batch.Target{ID: b.id, Shard: b.shard(), Row: b.row, Attachment: batch.ToTable}
	if c.part != nil {
		to.Attachment = c.part.number
	}
	var all []batch.Command
	b.table.recorder.Trace(to, func(command batch.Command) { all = append(all, command) })
	i := winner(all, b.table.has(b.id))
	if i < 0 {
		by = entrance.Cause{Kind: "in place", Phase: opFlush.String(), Pass: -1, Task: -1, Sequence: -1}
		if slices.Contains(f.ended, b.table.ordinal) {
			by.Kind, by.Phase = "erase", "the end of the events"
		}
	} else {
		by = b.causeOf(all[i])
	}
	for k, command := range all {
		superseded := command.Kind != batch.Create || c.part == nil
		if k != i && superseded {
			lost = append(lost, b.causeOf(command))
		}
	}
	return by, lost
}

// winner returns the index of the command with an effect on a cell, or -1: for an item that the
// flush has erased, an EraseAll before the first other erase; else the last command with a value,
// before the create.
func winner(all []batch.Command, lives bool) int {
	if !lives {
		if i := slices.IndexFunc(all, func(c batch.Command) bool { return c.All }); i >= 0 {
			return i
		}
		return slices.IndexFunc(all, func(c batch.Command) bool { return c.Kind == batch.Erase })
	}
	for i, c := range slices.Backward(all) {
		if c.Kind != batch.Erase && c.Kind != batch.Create {
			return i
		}
	}
	return slices.IndexFunc(all, func(c batch.Command) bool { return c.Kind == batch.Create })
}

func (b *probe) causeOf(c batch.Command) entrance.Cause {
	by := entrance.Cause{Kind: c.Kind.String(), Phase: "the input", Pass: -1, Task: -1, Sequence: c.Sequence, Call: c.Call}
	if c.All {
		by.Kind = "erase all"
	}
	if o, ok := c.Origin.(*recording); ok {
		by.System, by.Phase, by.Pass, by.Task = o.system, o.phase, o.number, c.Task
		by.Place = located{pass: o.number, command: &c}
		if c.ByRow {
			by.Place = o.place()
		}
	}
	return by
}
