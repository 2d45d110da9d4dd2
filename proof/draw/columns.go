package draw

import "handloom/proof/script"

// maxColumns is how many columns a table may have.
const maxColumns = 4

// columns adds columns and optional data to some tables. Others get theirs between steps.
func (d *drawing) columns() {
	for t := range d.known[:min(len(d.known), 10)] {
		for _, op := range []script.Op{script.AddColumn, script.AddSparse} {
			for d.mayAdd(op, t) && d.IntN(2) == 0 {
				s := script.Step{Op: op, Table: t, Word: d.element(op, t)}
				d.add(s.Set("changes", args["changes"](d, &s)))
			}
		}
	}
}

// mayAdd reports whether a table may have another column, or more optional data.
func (d *drawing) mayAdd(op script.Op, table int) bool {
	if op == script.AddSparse {
		return d.known[table].optional < maxColumns
	}
	return d.packed(table) && len(d.known[table].columns) < maxColumns
}

// element draws the kind of the elements of the next column of a table, of which many are
// like another, to be exchanged, or of its next optional data.
func (d *drawing) element(op script.Op, table int) string {
	known, all := d.known[table], script.Elements(d.program.Tables[table].Item)
	if op == script.AddSparse {
		known.optional++
		return all[d.IntN(len(all))]
	}
	if len(known.columns) > 0 && d.IntN(2) == 0 {
		all = known.columns
	}
	kind := all[d.IntN(len(all))]
	known.columns = append(known.columns, kind)
	return kind
}

// has reports whether a table has what an operation is about, if that is columns or
// optional data.
func (d *drawing) has(op script.Op, table int) bool {
	columns, optional := op.About()
	return !columns && !optional || columns && len(d.known[table].columns) > 0 || optional && d.known[table].optional > 0
}

// withParts returns a table that has what an operation is about, if there is one: this
// one, or the first behind it.
func (d *drawing) withParts(op script.Op, table int) int {
	for i := range d.known {
		if at := (table + i) % len(d.known); d.has(op, at) {
			return at
		}
	}
	return table
}

// otherColumn draws a column that an operation is about beside column c: of one type if
// there are two.
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

// recorded draws a handle to set elements by, or to take them: of one of the last creates,
// of what was set before, or any, and now and then many.
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
