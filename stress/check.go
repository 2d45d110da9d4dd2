package main

import (
	"fmt"

	"handloom/store"
)

// mismatch is a wrong result. Workers is 0 if two players differ.
type mismatch struct {
	Tick, Workers int
	What          string
}

func (m mismatch) String() string {
	if m.Workers == 0 {
		return fmt.Sprintf("tick %d: %s", m.Tick, m.What)
	}
	return fmt.Sprintf("tick %d: workers %d: %s", m.Tick, m.Workers, m.What)
}

func compare(first, p *player) string {
	switch {
	case p.digest != first.digest:
		return fmt.Sprintf("workers %d have digest %016x, workers %d have %016x", first.workers, first.digest, p.workers, p.digest)
	case !p.report.Equal(first.report):
		return fmt.Sprintf("workers %d report %v; workers %d report %v", first.workers, first.report, p.workers, p.report)
	}
	return ""
}

func checkTick(m *model, p *player) error {
	if err := checkReport(m, p); err != nil {
		return err
	}
	if err := checkStats(m, p); err != nil {
		return err
	}
	for _, n := range m.touched {
		if err := checkItem(m, p, n); err != nil {
			return err
		}
	}
	return checkGone(p)
}

func checkReport(m *model, p *player) error {
	reports := p.report.Tables
	for _, t := range m.tables {
		if t.want == (tally{}) {
			continue
		}
		name := fmt.Sprintf("table %d", t.number)
		if len(reports) == 0 || reports[0].Name != name {
			return fmt.Errorf("%s: the flush reports nothing of it; want %+v", name, t.want)
		}
		w := t.want
		var want store.TableReport
		want.Created, want.Erased, want.Put, want.Superseded = w.created, w.erased, w.put, w.superseded
		want.Dropped, want.CancelledOut = w.dropped, w.cancelledOut
		want.Depleted = reports[0].Depleted // depends on slots, which events do not show
		if reports[0].Counts != want.Counts {
			return fmt.Errorf("%s: the flush reports %+v; want %+v", name, reports[0].Counts, want.Counts)
		}
		reports = reports[1:]
	}
	switch {
	case len(reports) > 0:
		return fmt.Errorf("%s: the flush reports %+v; no event names it", reports[0].Name, reports[0].Counts)
	case p.report.Total.Stale > 0:
		return fmt.Errorf("the flush reports %d stale commands, such as %+v; want none", p.report.Total.Stale, p.report.Stale)
	case p.report.Epoch != uint64(p.epochs):
		return fmt.Errorf("the epoch is %d after %d flushes with commands", p.report.Epoch, p.epochs)
	}
	return nil
}

func checkStats(m *model, p *player) error {
	depleted := 0
	for i, s := range p.store.Stats().Tables {
		t, want := p.tables[i], m.tables[i]
		n := len(want.items)
		if t.items.Len() != n || s.Live != n {
			return fmt.Errorf("table %d: it has %d items, Stats says %d; want %d", t.number, t.items.Len(), s.Live, n)
		}
		if s.Slots != s.Live+s.Vacant+s.Depleted {
			return fmt.Errorf("table %d: of %d slots %d are live, %d vacant and %d depleted", t.number, s.Slots, s.Live, s.Vacant, s.Depleted)
		}
		if t.sums != want.sums {
			return fmt.Errorf("table %d: a pass sums up %+v; want %+v", t.number, t.sums, want.sums)
		}
		depleted += s.Depleted
	}
	if depleted != p.depleted {
		return fmt.Errorf("%d slots are depleted; the reports together say %d", depleted, p.depleted)
	}
	return nil
}

func checkItem(m *model, p *player, n name) error {
	want, live := m.item(n)
	if !live {
		return nil // see checkGone
	}
	got, found := p.lookup(n)
	switch {
	case !found:
		return fmt.Errorf("table %d: key %d lives, and its handle finds nothing", n.table, n.key)
	case got != want:
		return fmt.Errorf("table %d: key %d is %+v; want %+v", n.table, n.key, got, want)
	}
	return nil
}

func checkGone(p *player) error {
	for i := range p.parts {
		for _, g := range p.parts[i].gone {
			if it, ok := g.table.items.Get(g.handle); ok {
				return fmt.Errorf("table %d: the erased handle %v finds %+v", g.table.number, g.handle.ID, *it)
			}
			if h, ok := g.table.items.Resolve(g.handle); ok {
				return fmt.Errorf("table %d: the create %v was cancelled and resolves to %v", g.table.number, g.handle.ID, h.ID)
			}
		}
	}
	return nil
}

func checkAll(m *model, p *player) error {
	if err := p.store.Verify(p.ctx); err != nil {
		return err
	}
	for _, t := range p.tables {
		for h, it := range t.items.All() {
			n := name{t.number, it.Key}
			want, ok := m.item(n)
			if !ok || *it != want {
				return fmt.Errorf("table %d: it holds %+v as %v; want %+v", t.number, *it, h.ID, want)
			}
			if mine := p.parts[n.task()].held[n].handle; mine != h {
				return fmt.Errorf("table %d: key %d lives as %v; its handle is %v", t.number, it.Key, h.ID, mine.ID)
			}
		}
		for key := range m.byTable[t.number].items {
			if err := checkItem(m, p, name{t.number, key}); err != nil {
				return err
			}
		}
	}
	return nil
}
