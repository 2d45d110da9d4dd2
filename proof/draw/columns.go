package draw

import "handloom/proof/script"

// maxColumns limits the columns of a table, and its sparse components.
const maxColumns = 4

// columns adds columns and sparse data to some tables. Other tables get them
// between steps.
func (d *drawing) columns() {
	// A program with a thousand tables would consist of columns.
	for t := range d.known[:min(len(d.known), 10)] {
		for _, op := range []script.Op{script.AddColumn, script.AddSparse} {
			for d.mayAdd(op, t) && d.IntN(2) == 0 {
				s := script.Step{Op: op, Table: t, Word: d.element(op, t)}
				d.add(s.Set("changes", args["changes"](d, &s)))
			}
		}
	}
}

// mayAdd reports whether a table may get another column or sparse data.
func (d *drawing) mayAdd(op script.Op, table int) bool {
	if op == script.AddSparse {
		return d.known[table].optional < maxColumns
	}
	return d.packed(table) && len(d.known[table].columns) < maxColumns
}

// element draws the element kind of the next component of a table. Columns
// often share a kind, so that they can be exchanged.
func (d *drawing) element(op script.Op, table int) string {
	known, all := d.known[table], script.Items
	if op == script.AddSparse {
		known.optional++
		return all[d.IntN(len(all))]
	}
	// A list with repetitions: frequent kinds become more frequent.
	if len(known.columns) > 0 && d.IntN(2) == 0 {
		all = known.columns
	}
	kind := all[d.IntN(len(all))]
	known.columns = append(known.columns, kind)
	return kind
}

// has reports whether a table has a component for an operation, if that needs one.
func (d *drawing) has(op script.Op, table int) bool {
	columns, optional := op.About()
	return !columns && !optional || columns && len(d.known[table].columns) > 0 || optional && d.known[table].optional > 0
}

// withParts returns the first table, from table on, with the components of an
// operation.
func (d *drawing) withParts(op script.Op, table int) int {
	for i := range d.known {
		if at := (table + i) % len(d.known); d.has(op, at) {
			return at
		}
	}
	return table
}

// otherColumn draws the second column of an operation, mostly of the same kind
// as column c.
func (d *drawing) otherColumn(s *script.Step) int {
	all := d.known[s.Table].columns
	at := s.Arg("c") % len(all)
	for i := range all {
		if other := (at + 1 + i) % len(all); all[other] == all[at] && d.IntN(8) > 0 {
			return other
		}
	}
	return d.IntN(len(all))
}

// recorded draws a handle for Set or Unset: of a recent create, of an earlier
// Set, or any; sometimes a run.
func (d *drawing) recorded(table int, inChunk bool) script.Ref {
	known := d.known[table]
	last := func(names []int) script.Ref {
		return script.Ref{N: names[len(names)-1-d.IntN(min(len(names), few))]}
	}
	switch i := d.IntN(10); {
	case i == 0:
		return d.run(table)
	case i < 4 && len(known.set) > 0:
		return last(known.set)
	case i < 7 && len(known.live) > 0:
		return last(known.live)
	case i < 9 && len(known.pending) > 0:
		return last(known.pending)
	}
	return d.ref(table, inChunk)
}
