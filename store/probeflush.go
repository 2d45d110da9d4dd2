package store

import (
	"slices"

	"handloom/batch"
	"handloom/internal/entrance"
)

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
