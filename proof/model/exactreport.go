package model

import (
	"cmp"
	"slices"
)

// finish returns the report of the applied plan.
func (p *Plan) finish() Report {
	r := &p.report
	r.Epoch = p.m.epoch
	// A table without commands has no line.
	for i := range p.m.tables {
		if c := p.counts[i]; c != nil {
			r.Tables = append(r.Tables, TableReport{i, *c})
			r.Total.add(*c)
		}
	}
	for _, col := range p.columns() {
		c := p.settings[col].counts
		r.Columns = append(r.Columns, ColumnReport{col, c})
		r.Total.add(c)
	}
	// Erases of unknown typeIds are in no line, only in the total.
	if c := p.counts[-1]; c != nil {
		r.Total.add(*c)
	}
	slices.SortFunc(r.Tables, func(a, b TableReport) int {
		return cmp.Compare(p.m.tables[a.Table].TypeID, p.m.tables[b.Table].TypeID)
	})
	// The store keeps the lowest samples, whichever shard finds its stale commands first.
	slices.SortFunc(r.Stale, compareSamples)
	r.Stale = r.Stale[:min(len(r.Stale), 8)]
	return *r
}

// compareSamples is the order of samples in a report.
func compareSamples(a, b Sample) int {
	order := func(k Kind) int { return slices.Index([]Kind{Erase, Put, Set, Unset}, k) }
	return cmp.Or(cmp.Compare(a.TypeID, b.TypeID), cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Sequence, b.Sequence))
}
