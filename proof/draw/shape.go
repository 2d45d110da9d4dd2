package draw

import (
	"slices"

	"handloom/proof/script"
)

// shapes begin programs in states that random steps rarely reach. One of
// [shapeEvery] consecutive seeds begins in each.
var shapes = []func(d *drawing){(*drawing).rest, (*drawing).blocks, (*drawing).bytes, (*drawing).nested, (*drawing).renewed, (*drawing).framed, (*drawing).behind, (*drawing).thinned, (*drawing).crowded, (*drawing).padded}

const shapeEvery = 100

// shape begins the program with the shape of its seed, if any. It overrides drawn options
// that would keep the shape from its state.
func (d *drawing) shape() {
	i := int(d.program.Seed % shapeEvery)
	if i >= len(shapes) {
		return
	}
	d.program.Narrow, d.program.Store = script.Narrow{}, script.Store{}
	// Some shapes need a second table.
	for len(d.known) < 2 {
		d.program.Tables = append(d.program.Tables, script.Table{Kind: script.Packed, Item: script.Word, Name: "t1"})
		d.known = append(d.known, new(population))
	}
	// One shard without a limit, so that a shape knows the rows of its items.
	d.first().Max, d.first().Shards, d.first().Kind = 0, 1, script.Packed
	shapes[i](d)
}

// first returns the table of the shapes.
func (d *drawing) first() *script.Table { return &d.program.Tables[0] }

// rest leaves the first table idle until it releases its flush memory, then
// changes it.
func (d *drawing) rest() {
	d.first().Changes = 1
	create := func() { d.record(script.Step{Op: script.Emplace, N: 1, Name: d.name(1)}.Set("v", 1)) }
	create()
	// More flushes than two periods of package highwater, after which memory is released.
	for range 150 {
		d.record(script.Step{Op: script.Erase, Table: 1, Refs: []script.Ref{{Kind: script.Raw, Bits: 1}}})
	}
	create()
}

// record has one task record a command, and flushes.
func (d *drawing) record(c script.Step) {
	d.add(recording(c))
	d.add(script.Step{Op: script.Flush})
}

// recording returns a pass of one task with one command.
func recording(c script.Step) script.Step {
	return script.Step{Op: script.Each, Body: []script.Step{c}}.Set("tasks", 1)
}

// blocks sorts more items than one block holds. Every block changes and no two
// need a merge.
func (d *drawing) blocks() {
	d.first().Item, d.first().Fixed = script.Rich, 0
	d.inWrite(
		script.Step{Op: script.InsertItems, N: 5000, Name: d.name(5000)},
		script.Step{Op: script.DefragmentTable},
		// The order that reverses each block of a sort in place.
		script.Step{Op: script.SortTable}.Set("by", 4),
		script.Step{Op: script.DefragmentTable},
		script.Step{Op: script.Clear},
	)
}

// bytes sends more bytes to the inbox, over several batches, than one batch may
// hold.
func (d *drawing) bytes() {
	d.first().Item = script.Rich
	// Above each single batch, and below the sum of all.
	d.program.Store.BatchBytes = 1 << 16
	for range 30 {
		d.add(script.Step{Op: script.Inbox, Body: []script.Step{{Op: script.EmplaceItems, N: 100, Name: d.name(100)}}})
		d.add(script.Step{Op: script.Flush})
		d.inWrite(script.Step{Op: script.Clear})
	}
	d.options.Steps = 0 // no other batch may come near the limit
}

// nested reduces a table inside a pass over another; both have items.
func (d *drawing) nested() {
	d.program.Tables[1].Max = 0
	for table := range 2 {
		d.inWrite(script.Step{Op: script.Insert, Table: table, N: 1, Name: d.name(1)})
	}
	d.add(script.Step{Op: script.ForEach, Body: []script.Step{{Op: script.ReduceInTask, Table: 1}}})
}

// crowded sends calls of which some do not fit, so that the flush drops a call.
func (d *drawing) crowded() {
	d.first().Max, d.first().Reserve = 4, 0
	// The first call fits, the second does not, the third does again.
	for _, n := range []int{3, 2, 1} {
		d.add(script.Step{Op: script.Inbox, Body: []script.Step{{Op: script.EmplaceItems, N: n, Name: d.name(n)}}})
	}
	d.add(script.Step{Op: script.Flush})
}

// padded has one queue set the elements of all its creates, then of the first
// and the last again.
func (d *drawing) padded() {
	// The rough account must know the column, or no later step uses it.
	d.known[0].columns = append(d.known[0].columns, script.Word)
	d.add(script.Step{Op: script.AddColumn, Word: script.Word})
	for _, set := range [][]int{{0, 1, 2}, {0, 2}} {
		made := d.name(3)
		pass := recording(script.Step{Op: script.EmplaceItems, N: 3, Name: made})
		for _, i := range set {
			pass.Body = append(pass.Body, script.Step{Op: script.Set, Refs: []script.Ref{{N: made + i}}}.Set("v", 7))
		}
		d.add(pass)
		d.add(script.Step{Op: script.Flush})
	}
}

// renewed writes created and older items in the passes of a frame, and erases
// an item with pointers.
func (d *drawing) renewed() {
	d.first().Changes, d.first().Item = 1, script.Rich
	made := d.name(3)
	emplace := script.Step{Op: script.EmplaceItems, N: 3, Name: d.name(3)}
	d.inWrite(
		script.Step{Op: script.InsertItems, N: 3, Name: made},
		script.Step{Op: script.ForEach}.Set("wrote", 2),
		recording(emplace),
		script.Step{Op: script.Flush},
		script.Step{Op: script.ForEach}.Set("wrote", 1),
		script.Step{Op: script.Remove, Refs: []script.Ref{{N: made}}},
	)
}

// framed has frames with many flushes and few changes. The first frame erases
// its own creates, and a Frame reuses their slots. Two flushes of the second
// put to one item.
func (d *drawing) framed() {
	d.first().Changes, d.first().MinFree, d.first().Item = 1, 0, script.Word
	flushed := func(op script.Op, name int) []script.Step {
		return []script.Step{recording(script.Step{Op: op, Refs: []script.Ref{{N: name}}}), {Op: script.Flush}}
	}
	made, other, last := d.name(2), d.name(1), d.name(1)
	d.inWrite(slices.Concat(
		[]script.Step{recording(script.Step{Op: script.EmplaceItems, N: 2, Name: made}), {Op: script.Flush}},
		flushed(script.Put, made), flushed(script.Erase, made),
		[]script.Step{
			{Op: script.Remove, Refs: []script.Ref{{N: made + 1}}},
			{Op: script.Insert, N: 1, Name: other},
		},
		flushed(script.Erase, other),
	)...)
	d.inWrite(slices.Concat(
		[]script.Step{{Op: script.Insert, N: 1, Name: last}},
		flushed(script.Put, last), flushed(script.Put, last),
	)...)
	// The rest of the program continues in the same manner.
	d.theme.frames, d.theme.links = 1, 0
	d.few(script.Each, script.Flush, script.Emplace, script.Put, script.Erase, script.Insert, script.Remove, script.Inbox)
	d.theme.weights[script.Write], d.theme.grow = 10, 0.8
}

// few limits the rest of the program to few items and some operations.
func (d *drawing) few(ops ...script.Op) {
	t := &d.theme
	t.fresh, t.hot, t.forged, t.stale, t.tasks, t.busy, t.sizes = 0.6, 0.95, 0, 0, 3, 4, []int{1, 2}
	// Not 0: every operation of the theme stays possible.
	for op := range t.weights {
		t.weights[op] = min(t.weights[op], 0.05)
	}
	for _, op := range ops {
		t.weights[op] = 1
	}
}

// The rollback is to a checkpoint older than two columns. The columns are then
// exchanged around a flush that sets one of them in the second shard, one item
// twice. A sort leaves the first row in place.
func (d *drawing) behind() {
	d.first().Shards, d.first().Changes, d.first().Item = 2, 1, script.Word
	made := d.name(4) + 1 // in the second shard
	d.inWrite(script.Step{Op: script.InsertItems, N: 4, Name: made - 1})
	d.add(script.Step{Op: script.Checkpoint})
	for range 2 {
		d.known[0].columns = append(d.known[0].columns, script.Word)
		d.add(script.Step{Op: script.AddColumn, Word: script.Word}.Set("changes", 1))
	}
	d.add(script.Step{Op: script.Rollback})
	sets := recording(script.Step{Op: script.Set, Refs: []script.Ref{{N: made}}}.Set("v", 3))
	sets.Body = append(sets.Body,
		script.Step{Op: script.Set, Refs: []script.Ref{{N: made + 2}}}.Set("v", 4),
		script.Step{Op: script.Set, Refs: []script.Ref{{N: made}}}.Set("v", 5),
	)
	d.inWrite(
		sets,
		script.Step{Op: script.Exchange}.Set("d", 1),
		script.Step{Op: script.Flush},
		script.Step{Op: script.Exchange}.Set("d", 1),
		script.Step{Op: script.SortTableByKey},
	)
}

// thinned sets sparse data and column elements of many items, unsets most of
// the sparse data, and runs operations that move both.
func (d *drawing) thinned() {
	const all = 200
	made := d.name(all)
	named := func(from, n int) []script.Ref { return []script.Ref{{N: made + from, Count: n}} }
	d.inWrite(script.Step{Op: script.InsertItems, N: all, Name: made})
	for c, op := range []script.Op{script.AddSparse, script.AddColumn} {
		d.element(op, 0)
		d.add(script.Step{Op: op, Word: script.Word})
		d.record(script.Step{Op: script.Set, Refs: named(0, all)}.Set("c", c).Set("v", 3))
	}
	d.record(script.Step{Op: script.Unset, Refs: named(all/2, 70)})
	look := script.Step{Op: script.ForEachSparse}.Set("add", 1)
	d.inWrite(
		script.Step{Op: script.Remove, Refs: named(3, 1)}, look,
		script.Step{Op: script.Remove, Refs: named(5, 1)},
		script.Step{Op: script.Remove, Refs: named(7, 1)}, look,
		script.Step{Op: script.SortTable}.Set("by", 1),
		script.Step{Op: script.SortSparse}, look,
		script.Step{Op: script.Checkpoint}, script.Step{Op: script.Rollback}.Set("saved", 1), look,
	)
	d.few(
		script.Each, script.Flush, script.Write, script.Emplace, script.Erase, script.Set, script.Unset,
		script.ForEachSparse, script.SortSparse, script.SortTable, script.Remove,
	)
	t := &d.theme
	t.busy, t.keys, t.links, t.weights[script.Each], t.weights[script.Flush] = 12, 1000, 0.2, 3, 3
	t.weights[script.Set], t.weights[script.Unset], t.weights[script.Rollback], t.weights[script.Checkpoint] = 6, 4, 0.2, 0.2
}

// inWrite adds a write with the given body.
func (d *drawing) inWrite(body ...script.Step) {
	d.add(script.Step{Op: script.Write, Body: body})
}
