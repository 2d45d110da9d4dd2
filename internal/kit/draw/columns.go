package draw

import "handloom/internal/kit/program"

// mostColumns is how many columns a table may have.
const mostColumns = 4

// columns adds columns to some tables, of which some have pairs of one type. Others get
// theirs between steps.
func (d *drawing) columns() {
	for t := range d.known[:min(len(d.known), 10)] {
		for d.packed(t) && d.known[t].columns < mostColumns && d.IntN(2) == 0 {
			d.addColumn(t, d.element(t))
		}
	}
}

func (d *drawing) addColumn(table int, element string) {
	s := program.Step{Op: program.AddColumn, Table: table, Word: element}
	d.known[table].columns++
	d.add(s.Set("changes", args["changes"](d, &s)))
}

func (d *drawing) element(table int) string {
	all := program.Elements(d.program.Tables[table].Item)
	return all[d.IntN(len(all))]
}
