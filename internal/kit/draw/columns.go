package draw

import "handloom/internal/kit/program"

// mostColumns is how many columns a table may have.
const mostColumns = 4

// columns adds columns to some tables. Others get theirs between steps.
func (d *drawing) columns() {
	for t, known := range d.known[:min(len(d.known), 10)] {
		for d.packed(t) && len(known.columns) < mostColumns && d.IntN(2) == 0 {
			s := program.Step{Op: program.AddColumn, Table: t, Word: d.element(t)}
			d.add(s.Set("changes", args["changes"](d, &s)))
		}
	}
}

// element draws the kind of the elements of the next column of a table, of which many are
// like another, to be exchanged.
func (d *drawing) element(table int) string {
	known, all := d.known[table], program.Elements(d.program.Tables[table].Item)
	if len(known.columns) > 0 && d.IntN(2) == 0 {
		all = known.columns
	}
	kind := all[d.IntN(len(all))]
	known.columns = append(known.columns, kind)
	return kind
}

// withColumns returns a table with columns, if there is one: this one, or the first behind
// it.
func (d *drawing) withColumns(table int) int {
	for i := range d.known {
		if at := (table + i) % len(d.known); len(d.known[at].columns) > 0 {
			return at
		}
	}
	return table
}

// otherColumn draws a column that an operation is about beside column c: of one type if
// there are two.
func (d *drawing) otherColumn(s *program.Step) int {
	all := d.known[s.Table].columns
	at := s.Arg("c") % len(all)
	for i := range all {
		if other := (at + 1 + i) % len(all); all[other] == all[at] && d.IntN(8) > 0 {
			return other
		}
	}
	return d.IntN(len(all))
}

// recorded draws a handle to set elements by: of one of the last creates, or any.
func (d *drawing) recorded(table int, inChunk bool) program.Ref {
	if pending := d.known[table].pending; len(pending) > 0 && d.IntN(2) == 0 {
		return program.Ref{N: pending[len(pending)-1-d.IntN(min(len(pending), few))]}
	}
	return d.ref(table, inChunk)
}
