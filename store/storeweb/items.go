package storeweb

import (
	"fmt"
	"strconv"

	"handloom/internal/report"
)

type counter struct{ Name, Value, Means string }

func (v *tableView) Counters() []counter {
	c := v.Flushed
	var all []counter
	for _, count := range []struct {
		name  string
		n     int
		means string
	}{
		{"created", c.Created, "items that lived when the flush ended"},
		{"erased", c.Erased, "items that lived before"},
		{"unset", c.Unset, "sparse data that an Unset removed"},
		{"put", c.Put, "items that were replaced"},
		{"superseded", c.Superseded, "puts that a later one of the same flush replaced"},
		{"dropped", c.Dropped, "puts to an item that was erased in the same flush"},
		{"redundant", c.Redundant, "erases of an item that another command erased already"},
		{"stale", c.Stale, "commands whose handle named no item"},
		{"cancelled out", c.CancelledOut, "creates erased in the same flush, and the first erase of each"},
		{"dangling", c.Dangling, "provisional handles in values whose target was cancelled or unknown"},
		{"depleted", c.Depleted, "slots that used their last generation"},
	} {
		all = append(all, counter{count.name, report.Count(count.n), count.means})
	}
	return all
}

// A cell is a text in the table of items. Numbers are aligned right.
type cell struct {
	Text string
	Left bool
}

func cellOf(v value) cell {
	l, ok := v.(leaf)
	return cell{v.text(), !ok || !l.plain}
}

// Head returns the names of fields ("value" for other types) and columns.
func (v *tableView) Head() []cell {
	first := v.Items[0]
	fields, ok := first.Value.(object)
	if !ok {
		fields = object{{"value", first.Value}}
	}
	var names []cell
	for _, f := range fields {
		names = append(names, cell{f.name, cellOf(f.value).Left})
	}
	for i, c := range v.cells(first)[len(names):] {
		names = append(names, cell{v.Columns[i].FullName, c.Left})
	}
	return names
}

func (v *tableView) Rows() []itemRow {
	var rows []itemRow
	for _, i := range v.Items {
		rows = append(rows, itemRow{i.Handle.String(), v.cells(i)})
	}
	return rows
}

type itemRow struct {
	Handle string
	Cells  []cell
}

func (v *tableView) cells(i item) (cells []cell) {
	fields, ok := i.Value.(object)
	if !ok {
		cells = append(cells, cellOf(i.Value))
	}
	for _, f := range fields {
		cells = append(cells, cellOf(f.value))
	}
	for _, c := range v.Columns {
		beside := cell{}
		for _, f := range i.Columns {
			if f.name == c.Name {
				beside = cellOf(f.value)
			}
		}
		cells = append(cells, beside)
	}
	return cells
}

// A pager has links to other pages of items; "" means no link.
type pager struct {
	Says                        string
	First, Previous, Next, Last string
	Table                       string
	From, Count, Refresh        int
}

func (a *answer) Pager() pager {
	q, live := a.asked, a.Table.Stats.Live
	p := pager{Table: q.table, From: q.from, Count: q.count, Refresh: q.refresh}
	to := func(from int) string {
		return link("table", q.table, "from", strconv.Itoa(from), "count", strconv.Itoa(q.count))
	}
	switch shown := len(a.Table.Items); {
	case !q.items:
		p.Says = fmt.Sprintf("The table has %s items.", report.Count(live))
	case shown == 0:
		p.Says = fmt.Sprintf("None of %s items.", report.Count(live))
	default:
		p.Says = fmt.Sprintf("Items %s to %s of %s.", report.Count(q.from+1), report.Count(q.from+shown), report.Count(live))
	}
	if !q.items {
		if live > 0 {
			p.First = to(0)
		}
		return p
	}
	last := max(0, live-1) / q.count * q.count
	if q.from > 0 {
		p.First, p.Previous = to(0), to(max(0, min(q.from-q.count, last)))
	}
	if q.from < live-q.count {
		p.Next, p.Last = to(q.from+q.count), to(last)
	}
	return p
}

func (a *answer) Asked() bool { return a.asked.items }
