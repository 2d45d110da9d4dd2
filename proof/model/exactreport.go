package model

import (
	"cmp"
	"slices"
)

// MergeReports returns the report of a frame that flushed twice.
func MergeReports(a, b Report) Report {
	r := Report{Epoch: b.Epoch, Total: a.Total, Tables: slices.Clone(a.Tables), Stale: slices.Concat(a.Stale, b.Stale), DroppedCalls: a.DroppedCalls + b.DroppedCalls}
	r.Total.add(b.Total)
	for _, t := range b.Tables {
		at := slices.IndexFunc(r.Tables, func(of TableReport) bool { return of.Table == t.Table })
		if at < 0 {
			r.Tables = append(r.Tables, t)
		} else {
			r.Tables[at].add(t.Counts)
		}
	}
	r.Columns = slices.Clone(a.Columns)
	for _, c := range b.Columns {
		at := slices.IndexFunc(r.Columns, func(of ColumnReport) bool { return of.ColumnOf == c.ColumnOf })
		if at < 0 {
			r.Columns = append(r.Columns, c)
		} else {
			r.Columns[at].add(c.Counts)
		}
	}
	slices.SortStableFunc(r.Stale, compareSamples)
	r.Stale = r.Stale[:min(len(r.Stale), 8)]
	return r
}

// finish sums up.
func (p *Plan) finish() Report {
	r := &p.report
	r.Epoch = p.m.epoch
	for i := range p.m.tables {
		if c := p.counts[i]; c != nil {
			r.Tables = append(r.Tables, TableReport{i, *c})
			r.Total.add(*c)
		}
	}
	for _, of := range p.columns() {
		c := p.settings[of].counts
		r.Columns = append(r.Columns, ColumnReport{of, c})
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
