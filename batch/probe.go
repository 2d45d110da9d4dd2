package batch

import (
	"slices"

	"handloom/handle"
)

// Target is an item, or its value of an attachment, for [Recorder.Trace].
type Target struct {
	ID         handle.ID
	Shard      int // of ID
	Row        int // before the flush; -1: none
	Attachment int // or ToTable
}

// Command is a command for a [Target].
type Command struct {
	Kind     Kind
	All      bool // an EraseAll
	ByRow    bool // an erase by row
	Origin   any  // Origin of its pass; nil: a call
	Task     int  // 0 for a call
	Call     int  // number of the call of the inbox or the input, from 1; 0: recorded in a pass
	Sequence int  // as in [Sample], for a call of the input within the call; a staged Set has the number of its create

	series series
	at     int // sequence in the queue; of a staged Set the number of earlier Sets of the create
	place  place
}

// series is an array of a queue. The position of a command in it is its sequence.
type series struct {
	kind       Kind // Set: also Unsets
	all        bool
	staged     bool
	attachment int
	shard      int
}

// Trace calls visit with the commands of the gathered batch for a target: its create, erases, and
// either puts or, for an attachment, Sets and Unsets. They are in key order, and the commands
// of a queue are in sequence by kind. It takes O(commands for the table) time. It is called after the shards
// have applied the commands and before [Recorder.Publish].
func (r *Recorder) Trace(to Target, visit func(c Command)) {
	t := tracing{Recorder: r, to: to, made: r.Pending.nameOf(to.ID), visit: visit}
	for buf := range r.batch.buffers {
		if buf.state != dropped {
			t.queue(buf)
		}
	}
}

// nameOf returns the provisional handle of an item that the batch created, or null. It
// takes O(creates) time.
func (c *Commands) nameOf(id handle.ID) handle.ID {
	if c.recorder == nil {
		return 0
	}
	for i := range c.order {
		s := &c.order[i]
		if at := slices.Index(c.created[s.first:s.first+s.creates], id); at >= 0 {
			return c.recorder.name(s.number) + handle.ID(at)
		}
	}
	return 0
}

// tracing is a running Trace.
type tracing struct {
	*Recorder
	to    Target
	made  handle.ID
	visit func(Command)
}

// queue visits the commands of one queue.
func (t *tracing) queue(buf *buffer) {
	segment, offset := -1, 0
	c := buf.table(t.ordinal)
	if c != nil && t.made != 0 {
		// Only one queue has the create.
		segment, offset = c.locate(t.made)
	}
	if segment >= 0 {
		// A queue keeps the last staged command of a create; countOf restores its sequence.
		t.found(buf, Command{Kind: Create, at: c.sequence(segment, offset), series: series{kind: Create, attachment: ToTable}})
	}
	switch {
	case t.to.Attachment != ToTable:
		t.sets(buf, c, segment, offset)
	case c != nil:
		t.each(func(shard int) {
			if c.put.has(shard) {
				t.ids(buf, Put, shard, c.puts[shard].IDs)
			}
		})
	}
	t.erases(buf)
}

// each calls f with each shard whose arrays can name the item.
func (t *tracing) each(f func(shard int)) {
	f(t.to.Shard)
	// Commands of the batch may name the item by its provisional handle, which is in shard
	// 0.
	if t.to.Shard != 0 && t.made != 0 {
		f(0)
	}
}

// names reports whether id names the item, by its handle or provisionally.
func (t *tracing) names(id handle.ID) bool { return id == t.to.ID || t.made != 0 && id == t.made }

// ids visits the commands of a list of handles.
func (t *tracing) ids(buf *buffer, kind Kind, shard int, ids []handle.ID) {
	for i, id := range ids {
		if t.names(id) {
			t.found(buf, Command{Kind: kind, at: i, series: series{kind: kind, attachment: ToTable, shard: shard}})
		}
	}
}

// erases visits the erases of the item: by handle, by row, then an EraseAll.
func (t *tracing) erases(buf *buffer) {
	t.each(func(shard int) {
		if list := t.list + shard; shard < int(t.shards) && list < len(buf.erases) {
			t.ids(buf, Erase, shard, buf.erases[list].ids)
		}
	})
	if rows := &buf.byRow; rows.list > 0 && rows.list == t.list+t.to.Shard && t.to.Row >= 0 {
		if i := slices.Index(rows.rows, uint32(t.to.Row)); i >= 0 {
			by := series{kind: Erase, attachment: ToTable, shard: t.to.Shard}
			// Erases by row follow the erases by handle of the same shard (see [Sample]).
			t.found(buf, Command{Kind: Erase, ByRow: true, at: t.length(buf, by) + i, series: by})
		}
	}
	if t.made != 0 {
		return // an EraseAll erases only earlier items
	}
	by := series{kind: Erase, all: true, attachment: ToTable}
	for i := range t.length(buf, by) {
		t.found(buf, Command{Kind: Erase, All: true, at: i, series: by})
	}
}

// sets visits the Sets and Unsets of the item's value.
func (t *tracing) sets(buf *buffer, c *tableBuffer, segment, offset int) {
	log := t.attachments[t.to.Attachment]
	if log.number >= len(buf.sets) || buf.sets[log.number] == nil {
		return
	}
	s := buf.sets[log.number]
	kindOf := func(unset bool) Kind {
		if unset {
			return Unset
		}
		return Set
	}
	if segment >= 0 && segment < s.used && s.staged[segment].set.has(offset) {
		at := place{uint32(segment), uint32(offset)}
		t.found(buf, Command{
			Kind: kindOf(s.staged[segment].unset.has(offset)), Sequence: c.sequence(segment, offset),
			at: s.countOf(at) - 1, place: at, series: series{kind: Set, staged: true, attachment: t.to.Attachment},
		})
	}
	t.each(func(shard int) {
		for i, id := range s.puts[shard].IDs {
			if t.names(id) {
				t.found(buf, Command{
					Kind: kindOf(s.puts[shard].IsUnset(i)), at: i,
					series: series{kind: Set, attachment: t.to.Attachment, shard: shard},
				})
			}
		}
	})
}

// countOf returns the number of Sets and Unsets of a create of the queue.
func (s *Sets) countOf(at place) (n int) {
	if int(at.segment) < s.used && s.staged[at.segment].set.has(int(at.offset)) {
		n++
	}
	for _, again := range s.again {
		if again == at {
			n++
		}
	}
	return n
}

// sequence returns the number of the queue's creates before a create.
func (c *tableBuffer) sequence(segment, offset int) int {
	for i := range c.segments[:segment] {
		offset += c.segments[i].values.Len()
	}
	return offset
}

// found completes a command and visits it.
func (t *tracing) found(buf *buffer, c Command) {
	if !c.series.staged {
		c.Sequence = c.at
	}
	switch {
	case buf.owner != nil:
		c.Origin, c.Task = buf.owner.Origin, buf.task
	// The common queue of an input: marks have the ends of its calls.
	case buf == t.batch.input.buf:
		c.Call, c.Sequence = t.batch.input.marks.call(c)
	default:
		c.Call = buf.task + 1
	}
	t.visit(c)
}

// length returns the number of commands of a series that the queue has.
func (r *Recorder) length(buf *buffer, s series) (n int) {
	c := buf.table(r.ordinal)
	switch {
	case s.all:
		for _, ordinal := range buf.all {
			if ordinal == r.ordinal {
				n++
			}
		}
	case s.kind == Create && c != nil && c.used > 0:
		c.seal()
		n = c.sequence(c.used, 0)
	case s.kind == Put && c != nil && c.put.has(s.shard):
		n = len(c.puts[s.shard].IDs)
	case s.kind == Erase && r.list+s.shard < len(buf.erases):
		n = len(buf.erases[r.list+s.shard].ids)
	case s.kind == Set:
		if number := r.attachments[s.attachment].number; number < len(buf.sets) && buf.sets[number] != nil {
			n = len(buf.sets[number].puts[s.shard].IDs)
		}
	}
	return n
}

// marks divide the queue of an input into its calls.
type marks struct {
	recorder *Recorder // of the table whose commands a probe finds; nil: none
	series   []series
	ends     [][]int // by call: number of commands, by series
}

// MarkCalls makes the batch note the calls of inputs with commands to a shard of the table.
func (r *Recorder) MarkCalls(shard int) {
	m := marks{recorder: r}
	m.series = append(m.series, series{kind: Create, attachment: ToTable}, series{kind: Erase, all: true, attachment: ToTable})
	for _, shard := range slices.Compact([]int{0, shard}) {
		m.series = append(m.series, series{kind: Put, attachment: ToTable, shard: shard}, series{kind: Erase, attachment: ToTable, shard: shard})
		for attachment := range r.attachments {
			m.series = append(m.series, series{kind: Set, attachment: attachment, shard: shard})
		}
	}
	r.batch.input.marks = m
}

// UnmarkCalls ends MarkCalls of any table.
func (b *Batch) UnmarkCalls() { b.input.marks = marks{} }

// end notes the end of a call.
func (m *marks) end(buf *buffer) {
	all := make([]int, len(m.series))
	for i, s := range m.series {
		all[i] = m.recorder.length(buf, s)
	}
	m.ends = append(m.ends, all)
}

// call returns the number of the call with a command of the input, and its sequence in the call.
func (m *marks) call(c Command) (call, sequence int) {
	by, at := c.series, c.at
	if by.staged {
		// A staged Set is in the call of its create.
		by, at = series{kind: Create, attachment: ToTable}, c.Sequence
	}
	i := slices.Index(m.series, by)
	if i < 0 {
		return 0, at
	}
	// Ends ascend, so the first end past the command belongs to its call.
	before := 0
	for n, ends := range m.ends {
		if at < ends[i] {
			return n + 1, at - before
		}
		before = ends[i]
	}
	return 0, at
}
