package storeweb

import (
	"context"
	"net/http"
	"runtime/metrics"
	"slices"
	"strings"
	"time"

	"handloom/batch"
	"handloom/internal/report"
	"handloom/store"
)

type answer struct {
	Status int        `json:"-"`
	Error  string     `json:"error,omitempty"` // reason for missing contents
	Store  *overview  `json:"store,omitempty"`
	Table  *tableView `json:"table,omitempty"`

	Figures *figures `json:"-"` // of a status; they are the whole JSON

	asked request
}

func problem(status int, text string) *answer { return &answer{Status: status, Error: text} }

type overview struct {
	Time      time.Time          `json:"time"`
	Epoch     uint64             `json:"epoch"`
	Stats     []store.TableStats `json:"stats"`
	Flushed   *store.Report      `json:"flushed"`          // by all flushes
	Recent    *recent            `json:"recent,omitempty"` // since an earlier request
	Heap      uint64             `json:"heap_bytes"`       // memory of the program, with garbage
	Schedules []schedule         `json:"schedules,omitempty"`

	points []point // of the charts
}

// overview describes all tables. For a busy store the data is from the last flush.
func (h *handler) overview(ctx context.Context) *answer {
	o := new(overview)
	a := &answer{Status: http.StatusOK, Store: o}
	copyFigures := func() {
		o.Time, o.Epoch, o.Stats, o.Flushed = time.Now(), h.store.Epoch(), h.store.Stats(), h.store.Flushed()
	}
	if err := h.look(ctx, copyFigures); err != nil {
		a.fault(err)
		copyFigures()
	} else {
		o.Recent, o.points = h.history.add(o.Time, o.Stats, o.Flushed)
	}
	o.Heap = heap()
	for _, s := range h.schedules {
		o.Schedules = append(o.Schedules, newSchedule(s))
	}
	return a
}

// heap returns the bytes of all objects, without stopping the program.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return sample[0].Value.Uint64()
}

type tableView struct {
	Time    time.Time        `json:"time"`
	Stats   store.TableStats `json:"stats"`
	Flushed batch.Counts     `json:"flushed"`
	Columns []header         `json:"columns,omitempty"`
	From    int              `json:"from,omitempty"` // number of items before the first
	Items   []item           `json:"items,omitempty"`
}

// A header describes a column and its flushes.
type header struct {
	Name     string       `json:"name"`
	FullName string       `json:"-"` // with the name of the table
	Flushed  batch.Counts `json:"flushed"`
}

type item struct {
	Handle  store.ID `json:"handle"`
	Value   value    `json:"value"`
	Columns object   `json:"columns,omitempty"`
}

func (h *handler) table(ctx context.Context, q request) *answer {
	a := &answer{Status: http.StatusOK}
	err := h.look(ctx, func() {
		stats := h.store.Stats()
		at := slices.IndexFunc(stats, func(t store.TableStats) bool { return t.Name == q.table })
		if at < 0 {
			return
		}
		flushed := h.store.Flushed()
		v := &tableView{Time: time.Now(), Stats: stats[at], Flushed: flushed.Tables[at].Counts, Columns: columnsOf(q.table, flushed)}
		if q.items {
			v.From, v.Items = q.from, h.items(q)
		}
		a.Table = v
	})
	switch {
	case err != nil:
		a.fault(err)
	case a.Table == nil:
		a = problem(http.StatusNotFound, "no table is called "+q.table)
	case q.items && len(a.Table.Items) == 0 && q.from > 0:
		a.Status, a.Error = http.StatusNotFound, "the table has "+report.Count(a.Table.Stats.Live)+" items, none behind the first "+report.Count(q.from)
	}
	return a
}

func (h *handler) items(q request) []item {
	var items []item
	left := pageRoom
	for id, v := range h.store.DumpTable(q.table, q.from) {
		if items = append(items, item{id, copyItem(v, &left), h.companions(id, &left)}); len(items) == q.count {
			break
		}
	}
	return items
}

// companions copies the column elements of an item.
func (h *handler) companions(id store.ID, left *room) (elements object) {
	for name, v := range h.store.DumpColumns(id) {
		if len(elements) == maxFields {
			break
		}
		if *left == 0 {
			elements = append(elements, field{name, full})
			continue
		}
		elements = append(elements, field{name, copyItem(v, left)})
	}
	return elements
}

// columnsOf returns the columns of a table, by the longest table name that begins their names.
func columnsOf(table string, flushed *store.Report) (columns []header) {
	for i := range flushed.Columns {
		c, owner := &flushed.Columns[i], ""
		for k := range flushed.Tables {
			if name := flushed.Tables[k].Name; len(name) > len(owner) && strings.HasPrefix(c.Name, name+".") {
				owner = name
			}
		}
		if owner == table && len(columns) < maxFields {
			columns = append(columns, header{c.Name[len(table)+1:], c.Name, c.Counts})
		}
	}
	return columns
}
