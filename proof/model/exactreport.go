package model

import (
	"cmp"
	"slices"
)

func (p *Plan) finish() Report {
	r := &p.report
	r.Epoch = p.m.epoch
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
	if c := p.counts[-1]; c != nil {
		r.Total.add(*c)
	}
	slices.SortFunc(r.Tables, func(a, b TableReport) int {
		return cmp.Compare(p.m.tables[a.Table].TypeID, p.m.tables[b.Table].TypeID)
	})
	slices.SortFunc(r.Stale, compareSamples)
	r.Stale = r.Stale[:min(len(r.Stale), 8)]
	return *r
}

func compareSamples(a, b Sample) int {
	order := func(k Kind) int { return slices.Index([]Kind{Erase, Put, Set, Unset}, k) }
	return cmp.Or(cmp.Compare(a.TypeID, b.TypeID), cmp.Compare(order(a.Kind), order(b.Kind)), cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Task, b.Task), cmp.Compare(a.Sequence, b.Sequence))
}
