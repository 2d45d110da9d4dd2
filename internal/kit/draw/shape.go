package draw

import (
	"slices"

	"handloom/internal/kit/program"
)

// shapes begin programs in states that random steps come to in one program of
// thousands. Of consecutive seeds one in [shapeEvery] begins in each.
var shapes = []func(d *drawing){(*drawing).rest, (*drawing).blocks, (*drawing).bytes, (*drawing).above, (*drawing).nested, (*drawing).renewed, (*drawing).framed, (*drawing).behind, (*drawing).thinned}

const shapeEvery = 100

// shape begins the program in the state of its seed, if that has one.
func (d *drawing) shape() {
	i := int(d.program.Seed % shapeEvery)
	if i >= len(shapes) {
		return
	}
	d.program.Narrow, d.program.Store = program.Narrow{}, program.Store{}
	for len(d.known) < 2 {
		d.program.Tables = append(d.program.Tables, program.Table{Kind: program.Packed, Item: program.Word, Name: "t1"})
		d.known = append(d.known, new(population))
	}
	for t := range d.program.Tables { // so that none stands where another needs room
		d.program.Tables[t].TypeID = 0
	}
	d.first().Max, d.first().Shards, d.first().Kind = 0, 1, program.Packed
	shapes[i](d)
}

// first is the table that a shape is about.
func (d *drawing) first() *program.Table { return &d.program.Tables[0] }

// rest has the first table keep still for so long that it gives up what it keeps
// for flushes, and then changes it.
func (d *drawing) rest() {
	d.first().Changes = 1
	create := func() { d.record(program.Step{Op: program.Emplace, N: 1, Name: d.name(1)}.Set("v", 1)) }
	create()
	for range 150 {
		d.record(program.Step{Op: program.Erase, Table: 1, Refs: []program.Ref{{Kind: program.Raw, Bits: 1}}})
	}
	create()
}

// record has one task record a command, and flushes.
func (d *drawing) record(c program.Step) {
	d.add(recording(c))
	d.add(program.Step{Op: program.Flush})
}

// recording is a pass in which one task records a command.
func recording(c program.Step) program.Step {
	return program.Step{Op: program.Each, Body: []program.Step{c}}.Set("tasks", 1)
}

// blocks sorts more items than a sort takes at once, so that each block changes
// and no two have to be merged.
func (d *drawing) blocks() {
	d.first().Item, d.first().Fixed = program.Linked, 0
	d.inWrite(
		program.Step{Op: program.InsertItems, N: 5000, Name: d.name(5000)},
		program.Step{Op: program.Defragment},
		program.Step{Op: program.SortFunc}.Set("by", 4),
		program.Step{Op: program.Defragment},
		program.Step{Op: program.Clear},
	)
}

// bytes has the inbox take more bytes, batch by batch, than one batch may hold.
func (d *drawing) bytes() {
	d.first().Item = program.Big
	d.program.Store.BatchBytes = 1 << 20
	for range 30 {
		d.add(program.Step{Op: program.Inbox, Body: []program.Step{{Op: program.EmplaceItems, N: 10, Name: d.name(10)}}})
		d.add(program.Step{Op: program.Flush})
		d.inWrite(program.Step{Op: program.Clear})
	}
	d.options.Steps = 0 // no other batch may come near the limit
}

// above fills the maps of a table, each to the limit that the table has.
func (d *drawing) above() {
	d.first().Max, d.first().Shards, d.first().Reserve = 5, 4, 0
	for shard := range 4 {
		d.inWrite(program.Step{Op: program.InsertItems, Shard: shard, N: 4, Name: d.name(4)})
	}
	for name := range 3 {
		d.record(program.Step{Op: program.Erase, Refs: []program.Ref{{N: 1 + 4*name}}})
	}
}

// nested opens phases inside phases, of tables that have items.
func (d *drawing) nested() {
	d.program.Tables[1].Max, d.first().Fixed = 0, 1
	for table := range 2 {
		d.inWrite(program.Step{Op: program.Insert, Table: table, N: 1, Name: d.name(1)})
	}
	d.add(program.Step{Op: program.Misuse, Word: "reduce-in-reduce-in-foreach"})
}

// renewed has the passes of a frame write what it created, and what was there before.
func (d *drawing) renewed() {
	d.first().Changes = 1
	emplace := program.Step{Op: program.EmplaceItems, N: 3, Name: d.name(3)}
	d.inWrite(
		program.Step{Op: program.InsertItems, N: 3, Name: d.name(3)},
		program.Step{Op: program.ForEach}.Set("wrote", 2),
		recording(emplace),
		program.Step{Op: program.Flush},
		program.Step{Op: program.ForEach}.Set("wrote", 1),
	)
}

// framed has the frames of the program flush many times, and change few items. The first
// brings its own creates to an end, and a Write gives their slots to others; two flushes
// of the second put to one item.
func (d *drawing) framed() {
	d.first().Changes, d.first().MinFree, d.first().Item = 1, 0, program.Word
	flushed := func(op program.Op, name int) []program.Step {
		return []program.Step{recording(program.Step{Op: op, Refs: []program.Ref{{N: name}}}), {Op: program.Flush}}
	}
	made, other, last := d.name(2), d.name(1), d.name(1)
	d.inWrite(slices.Concat(
		[]program.Step{recording(program.Step{Op: program.EmplaceItems, N: 2, Name: made}), {Op: program.Flush}},
		flushed(program.Put, made), flushed(program.Erase, made),
		[]program.Step{
			{Op: program.Remove, Refs: []program.Ref{{N: made + 1}}},
			{Op: program.Insert, N: 1, Name: other},
		},
		flushed(program.Erase, other),
	)...)
	d.inWrite(slices.Concat(
		[]program.Step{{Op: program.Insert, N: 1, Name: last}},
		flushed(program.Put, last), flushed(program.Put, last),
	)...)
	d.theme.frames, d.theme.links = 1, 0
	d.few(program.Each, program.Flush, program.Emplace, program.Put, program.Erase, program.Insert, program.Remove, program.Inbox)
	d.theme.weights[program.Write], d.theme.grow = 10, 0.8
}

// few has the rest of the program be about few items, and little but some operations.
func (d *drawing) few(ops ...program.Op) {
	t := &d.theme
	t.fresh, t.hot, t.forged, t.stale, t.tasks, t.busy, t.sizes = 0.6, 0.95, 0, 0, 3, 4, []int{1, 2}
	for op := range t.weights {
		t.weights[op] = min(t.weights[op], 0.05)
	}
	for _, op := range ops {
		t.weights[op] = 1
	}
}

// behind goes back to a checkpoint from before a column, and exchanges columns of which one
// is set meanwhile, in the second shard, and one item twice.
func (d *drawing) behind() {
	d.first().Shards, d.first().Changes = 2, 1
	made := d.name(2)
	d.inWrite(program.Step{Op: program.InsertItems, Shard: 1, N: 2, Name: made})
	d.add(program.Step{Op: program.Checkpoint})
	for range 2 {
		d.known[0].columns = append(d.known[0].columns, program.Word)
		d.add(program.Step{Op: program.AddColumn, Word: program.Word}.Set("changes", 1))
	}
	d.add(program.Step{Op: program.Rollback})
	sets := recording(program.Step{Op: program.Set, Refs: []program.Ref{{N: made}}}.Set("v", 3))
	sets.Body = append(sets.Body,
		program.Step{Op: program.Set, Refs: []program.Ref{{N: made + 1}}}.Set("v", 4),
		program.Step{Op: program.Set, Refs: []program.Ref{{N: made}}}.Set("v", 5),
	)
	d.inWrite(
		sets,
		program.Step{Op: program.Exchange}.Set("d", 1),
		program.Step{Op: program.Flush},
		program.Step{Op: program.Exchange}.Set("d", 1),
	)
}

// thinned gives many items optional data, and elements of a column, takes the data from
// most of them, and goes on with what moves both.
func (d *drawing) thinned() {
	const all = 200
	made := d.name(all)
	named := func(from, n int) []program.Ref { return []program.Ref{{N: made + from, Count: n}} }
	d.inWrite(program.Step{Op: program.InsertItems, N: all, Name: made})
	for c, op := range []program.Op{program.AddSparse, program.AddColumn} {
		d.element(op, 0)
		d.add(program.Step{Op: op, Word: program.Word})
		d.record(program.Step{Op: program.Set, Refs: named(0, all)}.Set("c", c).Set("v", 3))
	}
	d.record(program.Step{Op: program.Unset, Refs: named(all/2, 70)})
	look := program.Step{Op: program.ForEachSparse}.Set("add", 1)
	d.inWrite(
		program.Step{Op: program.Remove, Refs: named(3, 1)}, look,
		program.Step{Op: program.EraseNow, Refs: named(5, 1)},
		program.Step{Op: program.Remove, Refs: named(7, 1)}, look,
		program.Step{Op: program.SortTable}.Set("by", 1),
		program.Step{Op: program.SortSparse}, look,
		program.Step{Op: program.Checkpoint}, program.Step{Op: program.Rollback}.Set("saved", 1), look,
	)
	d.few(
		program.Each, program.Flush, program.Write, program.Emplace, program.Erase, program.Set, program.Unset,
		program.ForEachSparse, program.SortSparse, program.Remove, program.EraseNow, program.Swap,
	)
	t := &d.theme
	t.busy, t.keys, t.links, t.weights[program.Each], t.weights[program.Flush] = 12, 1000, 0.2, 3, 3
	t.weights[program.Set], t.weights[program.Unset], t.weights[program.Rollback], t.weights[program.Checkpoint] = 6, 4, 0.2, 0.2
}

// inWrite adds a write of some steps.
func (d *drawing) inWrite(body ...program.Step) {
	d.add(program.Step{Op: program.Write, Body: body})
}
