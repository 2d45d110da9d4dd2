package history

import (
	"context"
	"fmt"
	"slices"

	"handloom/store"
)

// A tableLens shows items of a table.
type tableLens struct {
	*view
	rows rows
}

func (l *tableLens) before(*store.Store) {}

func (l *tableLens) after(s *store.Store) {
	q := &l.Query
	tables := s.Stats().Tables
	i := slices.IndexFunc(tables, func(t store.TableStats) bool { return t.Name == q.Table })
	if i < 0 {
		return
	}
	l.Tables = []tableCount{{Name: q.Table, Live: tables[i].Live}}
	l.rows.table = q.Table
	for id, item := range s.DumpTable(q.Table, q.From) {
		l.rows.add(s, id, item)
		if len(l.rows.all) == pageItems {
			break
		}
	}
}

func (l *tableLens) finish(ctx context.Context) error {
	if len(l.Tables) == 0 {
		return fmt.Errorf("table %q: %w", l.Query.Table, errNotFound)
	}
	if l.HasFirst && len(l.rows.all) > 0 {
		cursor, err := l.page.seek(ctx, l.Query.Tick-1, l.Query.Tick)
		if err != nil {
			return err
		}
		for id, item := range cursor.store.DumpTable(l.Query.Table, 0) {
			l.rows.addBefore(cursor.store, id, item)
		}
	}
	l.Grids = []*grid{l.rows.grid(l.HasFirst)}
	return nil
}

// A pager has the addresses of neighbouring items; "": none.
type pager struct{ First, Previous, Next, Last, Says string }

func (v *view) Pager() (p pager) {
	q, live, shown := &v.Query, v.Tables[0].Live, len(v.Grids[0].Rows)
	at := func(from int) string { return q.OfTable(q.Table, from) }
	p.Says = fmt.Sprintf("Items %d to %d of %d", q.From+1, q.From+shown, live)
	if shown == 0 {
		p.Says = fmt.Sprintf("None of %d items", live)
	}
	last := max(0, live-1) / pageItems * pageItems
	if q.From > 0 {
		p.First, p.Previous = at(0), at(max(0, min(q.From-pageItems, last)))
	}
	if q.From < live-pageItems {
		p.Next, p.Last = at(q.From+pageItems), at(last)
	}
	return p
}

// rows are items of a table, with their fields before and after a tick.
type rows struct {
	table string
	all   []*itemRow
	byID  map[store.ID]*itemRow
}

type itemRow struct {
	id            store.ID
	before, after *copied // nil: no item
}

// copied has the fields of an item and the hash of all of it.
type copied struct {
	fields []field
	hash   uint64
}

func copyItem(s *store.Store, id store.ID, item any) *copied {
	return &copied{fieldsOf(s, id, item), hashOf(s, id, item)}
}

// row returns the row of an item, which it adds.
func (r *rows) row(id store.ID) *itemRow {
	if r.byID == nil {
		r.byID = map[store.ID]*itemRow{}
	}
	if r.byID[id] == nil {
		r.byID[id] = &itemRow{id: id}
		r.all = append(r.all, r.byID[id])
	}
	return r.byID[id]
}

func (r *rows) add(s *store.Store, id store.ID, item any) { r.row(id).after = copyItem(s, id, item) }

// addBefore adds the fields before the tick if there is a row of the item.
func (r *rows) addBefore(s *store.Store, id store.ID, item any) {
	if known := r.byID[id]; known != nil {
		known.before = copyItem(s, id, item)
	}
}

// A grid is a table of items and fields.
type grid struct {
	Table string
	Head  []field
	Rows  []gridRow
	Rest  int // rows that are not shown
}

type gridRow struct {
	ID    store.ID
	Mark  string // "created", "changed", "erased", ""
	Cells []gridCell
}

// A gridCell has the texts of a field before and after a tick.
type gridCell struct {
	Name          string
	Before, After field
	Changed       bool
}

// Value is the value to show: after the tick, or before it if the item was erased.
func (c gridCell) Value() field {
	if c.After.Text == "" {
		return c.Before
	}
	return c.After
}

// grid returns a grid of the rows. compared is false if the state before the tick is not kept.
func (r *rows) grid(compared bool) *grid {
	g := &grid{Table: r.table}
	known := map[string]bool{}
	for _, item := range r.all {
		for _, state := range []*copied{item.after, item.before} {
			for _, f := range state.list() {
				if !known[f.Name] {
					g.Head = append(g.Head, f)
				}
				known[f.Name] = true
			}
		}
	}
	for _, item := range r.all {
		g.Rows = append(g.Rows, item.cells(g.Head, compared))
	}
	return g
}

func (c *copied) list() []field {
	if c == nil {
		return nil
	}
	return c.fields
}

func (r *itemRow) cells(head []field, compared bool) gridRow {
	row := gridRow{ID: r.id}
	switch {
	case !compared, r.before == r.after: // neither lives
	case r.before == nil:
		row.Mark = "created"
	case r.after == nil:
		row.Mark = "erased"
	case r.before.hash != r.after.hash:
		row.Mark = "changed"
	}
	for _, f := range head {
		c := gridCell{Name: f.Name, Before: named(r.before.list(), f.Name), After: named(r.after.list(), f.Name)}
		c.Changed = row.Mark == "changed" && c.Before.Text != c.After.Text
		row.Cells = append(row.Cells, c)
	}
	return row
}

// named returns the field of a name, or a field without text.
func named(fields []field, name string) field {
	i := slices.IndexFunc(fields, func(f field) bool { return f.Name == name })
	if i < 0 {
		return field{Name: name}
	}
	return fields[i]
}
