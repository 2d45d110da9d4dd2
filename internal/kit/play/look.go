package play

import (
	"slices"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
)

// look asks the map of a shard in every way what it holds.
func (p *player) look(s *program.Step, m boundMap) {
	rows := p.exact.Map(s.Table, s.Shard).Handles()
	for i, id := range rows {
		if p.modelled[s.Table].Stable {
			i = int(uint32(id)) // row and slot are the same number
		}
		if row, ok := m.rowOf(id); !ok || row != i || m.handleAt(i) != id {
			p.fail(Model, "%s is in row %d, %v, where %s is; want %d", model.Text(id), row, ok, model.Text(m.handleAt(i)), i)
		}
	}
	for _, t := range p.targets(s.Refs, place{step: p.step}) {
		want := slices.Contains(rows, t.id)
		if got := m.has(t.id); got != want {
			p.accepted(t.id, got)
		}
		if _, got := m.rowOf(t.id); got != want {
			p.accepted(t.id, got)
		}
	}
	slices.Reverse(rows)
	if got := m.backward(); !slices.Equal(got, rows) {
		p.fail(Model, "Backward yields %s; want %s", list(got), list(rows))
	}
	if got, want := m.figures(), p.exact.Map(s.Table, s.Shard).Figures(); got != want {
		p.fail(Model, "Stats of the map says %+v; want %+v", got, want)
	}
	if ordered, ok := m.(orderedMap); ok {
		p.lookItems(ordered.items(), rows)
	}
}

// lookItems compares the items of a packed map with those of its rows, which are
// given from the last.
func (p *player) lookItems(items []model.Item, backward []uint64) {
	if len(items) != len(backward) {
		p.fail(Model, "Items has %d items; want %d", len(items), len(backward))
		return
	}
	for i, id := range backward {
		want, _, _ := p.abstract.Find(id)
		if got := items[len(items)-1-i]; got != want {
			p.fail(Model, "Items has %+v for %s; want %+v", got, model.Text(id), want)
		}
	}
}
