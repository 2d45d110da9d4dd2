package storeweb_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"handloom/store"
	"handloom/store/storeweb"
)

func addColumn[C, T any](t *testing.T, table *store.Table[T], name string) *store.Column[T, C] {
	t.Helper()
	c := store.AddColumn(table, store.ColumnOptions[C]{Name: name})
	return c
}

func TestTable_HasColumnElements(t *testing.T) {
	const evil = `<script>alert(1)</script>`
	f, h := newFleet(t, 0)
	more := store.Register(f.Store, store.TableOptions[uint64]{Name: "ship.more"})
	fuel, mate := addColumn[float32](t, f.ships, "fuel"), addColumn[ship](t, f.ships, evil)
	addColumn[struct{}](t, more, "tag")
	q, err := f.Queues(1)
	noError(t, err)
	for i := range 120 {
		h := f.ships.Emplace(q[0], ship{Hull: i})
		fuel.Set(q[0], h, float32(i)+0.5)
		if i%2 == 0 {
			mate.Set(q[0], h, ship{Name: evil, Hull: i, Next: h})
		}
	}
	more.Emplace(q[0], 77)
	fuel.Set(q[0], store.Handle[ship]{}, 1)
	noError(t, onlyError(f.Flush(t.Context())))
	for _, from := range []int{0, 50, 100} {
		target := fmt.Sprintf("/?table=ship&from=%d", from)
		body := page(t, h, target)
		says(t, target, body, "<h2>Columns</h2>", `fuel</th><td>120</td><td>0</td><td>0</td><td>1</td><td>0</td>`,
			html.EscapeString(evil)+`</th><td>60</td>`, "<th>ship.fuel</th>", `<th class="left">ship.`+html.EscapeString(evil)+"</th>")
		failIf(t, strings.Contains(body, "<script") || strings.Contains(body, "tag"), "%s has a script, or the column of another table", target)
		view := read(t, h, target, http.StatusOK).Table
		if len(view.Columns) != 2 || view.Columns[0].Name != "fuel" || view.Columns[0].Flushed.Put != 120 || view.Columns[1].Flushed.Put != 60 {
			t.Errorf("%s: of columns it says %+v", target, view.Columns)
		}
		for _, i := range view.Items {
			id := store.Handle[ship]{ID: i.Handle}
			var beside ship
			noError(t, json.Unmarshal(i.Columns[evil], &beside))
			equal(t, "element of the column", beside, *mate.At(id))
			if text := fmt.Sprint(*fuel.At(id)); string(i.Columns["fuel"]) != text || !strings.Contains(body, "<td title=\""+text+"\">"+text+"</td>") {
				t.Errorf("beside %v there is %s, or not shown; want %s", id, i.Columns["fuel"], text)
			}
		}
	}
	says(t, "the page of a table whose name has a dot", page(t, h, "/?table=ship.more&from=0"), "ship.more.tag</th>", "tag</th><td>0</td>")
	failIf(t, strings.Contains(page(t, h, "/?table=shot"), "<h2>Columns</h2>"), "a table without columns shows some")
	failIf(t, read(t, h, "/?table=shot", http.StatusOK).Table.Columns != nil, "JSON of a table without columns has some")
}

// wide fills as much of a page as an item can.
type wide struct {
	A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z, AA, AB, AC, AD, AE, AF [16]string
}

func (w *wide) fill(text string) *wide {
	v := reflect.ValueOf(w).Elem()
	for _, field := range v.Fields() {
		for i := range field.Len() {
			field.Index(i).SetString(text)
		}
	}
	return w
}

// A page has at most 1 MiB, and each row has all its cells.
func TestHandler_LimitsPageSize(t *testing.T) {
	for name, text := range map[string]string{
		"letters": strings.Repeat("x", 200), "escaped in both forms": strings.Repeat("<&>\"'", 40), "no text": strings.Repeat("\xff", 200),
		"wide characters": strings.Repeat("世", 80), "short": "",
	} {
		t.Run(name, func(t *testing.T) {
			s := store.New(store.Options{})
			table := store.Register(s, store.TableOptions[wide]{Name: "wide"})
			var columns []*store.Column[wide, wide]
			for i := range 4 {
				columns = append(columns, addColumn[wide](t, table, fmt.Sprint("c", i)))
			}
			q, err := s.Queues(1)
			noError(t, err)
			value := *new(wide).fill(text)
			for range 100 {
				h := table.Emplace(q[0], value)
				for _, c := range columns {
					c.Set(q[0], h, value)
				}
			}
			noError(t, onlyError(s.Flush(t.Context())))
			h := storeweb.Handler(s)
			const target, most = "/?table=wide&from=0&count=100", 1 << 20
			if body := page(t, h, target); len(body) > most || strings.Count(body, " title=\"") != 100*(32+4) {
				t.Errorf("a page has %d bytes and %d cells, want at most %d bytes and %d cells", len(body), strings.Count(body, " title=\""), most, 100*(32+4))
			}
			w := ask(h, "GET", target, asProgram)
			failIf(t, w.Body.Len() > most, "JSON has %d bytes, want at most %d", w.Body.Len(), most)
			view := read(t, h, target, http.StatusOK).Table
			failIf(t, len(view.Items) != 100 || len(view.Items[99].Columns) != 4, "JSON has %d items, want 100 with 4 columns each", len(view.Items))
		})
	}
}
