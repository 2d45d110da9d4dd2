package storetest

import (
	"fmt"
	"slices"
	"strings"

	"handloom/batch"
	"handloom/store"
)

// A pair is two runs. Its methods describe the difference between x of the first run and y of
// the second, or return "".
type pair [2]*run

func (p pair) say(what string, x, y any) string {
	return fmt.Sprintf("\n\t%s %v with %v, %v with %v", what, x, p[0], y, p[1])
}

func (p pair) tables(x, y []store.TableDigest) string {
	if a, b := shape(x), shape(y); a != b {
		return p.say("the tables are", a, b)
	}
	shards := differing(x, y)
	if len(shards) == 0 {
		return ""
	}
	first := shards[0]
	where := fmt.Sprintf("\n\ttable %q, shard %d (typeId %d)", x[first.table].Name, first.number, first.typeID)
	switch len(shards) {
	case 1:
	case 2:
		where += ", and 1 more shard"
	default:
		where += fmt.Sprintf(", and %d more shards", len(shards)-1)
	}
	// A later change in the frame has replaced the items of this flush.
	switch a, b := first.in(p[0].end), first.in(p[1].end); {
	case a == b:
		return where + "\n\tat the end of the frame it is the same again"
	case a != first.in(x) || b != first.in(y):
		where += "; at the end of the frame"
	}
	return where + p.items(first.dump(p[0].store, x), first.dump(p[1].store, x))
}

func shape(tables []store.TableDigest) string {
	names := make([]string, len(tables))
	for i, t := range tables {
		names[i] = fmt.Sprintf("%q (typeIds %d to %d)", t.Name, t.TypeID, int(t.TypeID)+len(t.Shards)-1)
	}
	return strings.Join(names, ", ")
}

type shard struct {
	table, number int
	typeID        uint16
}

func (s shard) in(tables []store.TableDigest) uint64 { return tables[s.table].Shards[s.number] }

func differing(x, y []store.TableDigest) []shard {
	var shards []shard
	for table, t := range x {
		for number := range t.Shards {
			if s := (shard{table, number, t.TypeID + uint16(number)}); s.in(x) != s.in(y) {
				shards = append(shards, s)
			}
		}
	}
	return shards
}

// equal ignores durations and the bits of provisional handles, which differ between runs.
func equal(x, y *store.Report) bool {
	same := func(a, b batch.Sample) bool {
		if a.Handle.IsProvisional() && b.Handle.IsProvisional() {
			a.Handle = b.Handle
		}
		return a == b
	}
	return x.Epoch == y.Epoch && x.Total == y.Total && x.DroppedCalls == y.DroppedCalls &&
		slices.Equal(x.Tables, y.Tables) && slices.Equal(x.Columns, y.Columns) && slices.EqualFunc(x.Stale, y.Stale, same)
}

func (p pair) reports(x, y *store.Report) string {
	switch {
	case equal(x, y):
		return ""
	case x.Total != y.Total:
		return p.say("the report is", x, y)
	}
	for _, lines := range [][2][]store.TableReport{{x.Tables, y.Tables}, {x.Columns, y.Columns}} {
		for i := range min(len(lines[0]), len(lines[1])) {
			if a, b := lines[0][i], lines[1][i]; a != b {
				return p.say("the report says", a, b)
			}
		}
	}
	return p.say("the first stale commands are", x.Stale, y.Stale)
}

// A row is an item with its column elements.
type row struct {
	id      store.ID
	item    any // pointer
	columns []element
}

// An element is the element of an item in a column.
type element struct {
	column string
	value  any // pointer
}

func (s shard) dump(from *store.Store, tables []store.TableDigest) (rows []row) {
	for id, item := range from.DumpTable(tables[s.table].Name, 0) {
		if id.TypeID() != s.typeID {
			continue
		}
		r := row{id: id, item: item}
		for name, value := range from.DumpColumns(id) {
			r.columns = append(r.columns, element{name, value})
		}
		rows = append(rows, r)
	}
	return rows
}

// columns compares the column elements of an item; one run may lack the item.
func (p pair) columns(i int, x, y row) string {
	for k, element := range x.columns {
		if k == len(y.columns) || y.columns[k].column != element.column {
			break
		}
		if where, a, b := difference(element.value, y.columns[k].value); a != b {
			return p.say(fmt.Sprintf("row %d (%v): %s of column %q is", i, x.id, strings.Replace(where, "the item", "the element", 1), element.column), a, b)
		}
	}
	if a, b := x.names(), y.names(); !slices.Equal(a, b) {
		return p.say(fmt.Sprintf("row %d (%v) has", i, x.id), a, b)
	}
	return ""
}

func (r *row) names() (all []string) {
	for _, element := range r.columns {
		all = append(all, element.column)
	}
	return all
}

func (p pair) items(x, y []row) string {
	counts := ""
	if len(x) != len(y) {
		counts = p.say("the number of items is", len(x), len(y))
	}
	for i := range min(len(x), len(y)) {
		if x[i].id != y[i].id {
			return counts + p.say(fmt.Sprintf("row %d holds", i), x[i].id, y[i].id)
		}
		if where, a, b := difference(x[i].item, y[i].item); a != b {
			return counts + p.say(fmt.Sprintf("row %d (%v): %s is", i, x[i].id, where), a, b)
		}
		if said := p.columns(i, x[i], y[i]); said != "" {
			return counts + said
		}
	}
	if counts != "" {
		return counts + "; the first rows are the same"
	}
	return "\n\titems and rows are the same; the order or the generations of vacant slots differ, what Defragment knows, or the order of optional data"
}
