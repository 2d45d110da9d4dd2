package history

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"handloom/internal/chart"
	"handloom/store"
)

//go:embed page
var pageFiles embed.FS

var pages = template.Must(template.New("page").Funcs(template.FuncMap{
	"add":    func(a, b uint64) uint64 { return a + b },
	"sub":    func(a, b uint64) uint64 { return a - b },
	"value":  func(q query, f field) valueView { return valueView{q, f} },
	"grid":   func(q query, g *grid) gridView { return gridView{q, g} },
	"cell":   func(q query, row gridRow, c gridCell) cellView { return cellView{q, row, c} },
	"change": newChangeView,
}).ParseFS(pageFiles, "page/*.html"))

// serveFile serves the files that the page loads.
func serveFile(w http.ResponseWriter, r *http.Request) {
	var body []byte
	switch r.URL.Path {
	case "/page.css":
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		sheet, _ := pageFiles.ReadFile("page/page.css")
		body = append([]byte(chart.Style), sheet...)
	case "/page.js":
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		body, _ = pageFiles.ReadFile("page/page.js")
	case "/icon.svg":
		w.Header().Set("Content-Type", "image/svg+xml")
		body = chart.Icon
	default:
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(body) // a client that left reads nothing
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		serveFile(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	q, err := parseQuery(r.URL.RawQuery, p.newest())
	if err != nil {
		v := &view{Query: q, page: p, Status: http.StatusBadRequest, Error: err.Error()}
		w.WriteHeader(v.Status)
		_, _ = w.Write(render("whole", v))
		return
	}
	p.answer(w, r, q)
}

// answer writes the view of q. If it takes longer than patience, it first writes its progress, with
// status 200.
func (p *page) answer(w http.ResponseWriter, r *http.Request, q query) {
	ready := make(chan *view, 1)
	go func() { ready <- p.view(r.Context(), q) }()
	wait := time.NewTimer(p.patience)
	defer wait.Stop()
	select {
	case v := <-ready:
		w.WriteHeader(v.Status)
		_, _ = w.Write(render("whole", v))
		return
	case <-wait.C:
	}
	// The work ends when the client leaves.
	_, _ = w.Write(render("begin", &view{Query: q, page: p}))
	again := time.NewTicker(max(p.patience, time.Millisecond))
	defer again.Stop()
	for {
		_, _ = w.Write(render("working", p.progress(q)))
		_ = http.NewResponseController(w).Flush()
		select {
		case v := <-ready:
			_, _ = w.Write(render("rest", v))
			return
		case <-again.C:
		}
	}
}

func render(name string, data any) []byte {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return []byte(template.HTMLEscapeString(err.Error()))
	}
	return b.Bytes()
}

// A progress describes the work for an answer.
type progress struct{ Says, Leave string }

func (p *page) progress(q query) progress {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	says := fmt.Sprintf("Played %d ticks", p.played.Load())
	if sp, err := p.spanOf(q.Tick, q.Tick); err == nil && q.Check != "" && !q.Turn {
		says = fmt.Sprintf("%s of %d", says, sp.Last-sp.First)
	}
	return progress{says, query{}.OfTick(p.shown)}
}

// The templates call these methods.

func (v *view) Name() string { return v.page.name }

func (v *view) Title() string {
	switch q := &v.Query; {
	case q.Item != 0:
		return fmt.Sprintf("Item %v, tick %d", q.Item, q.Tick)
	case q.Table != "":
		return fmt.Sprintf("Table %s, tick %d", q.Table, q.Tick)
	}
	return fmt.Sprintf("Tick %d", v.Query.Tick)
}

func (v *view) Time() string { return v.Tick.Time.UTC().Format("2006-01-02 15:04:05.000 MST") }

// Says is the tick in a sentence.
func (v *view) Says() string {
	var all tableCount
	for _, t := range v.Tables {
		all.Created, all.Changed, all.Erased = all.Created+t.Created, all.Changed+t.Changed, all.Erased+t.Erased
	}
	calls := fmt.Sprintf("%d calls", len(v.Calls))
	if len(v.Calls) == 1 {
		calls = "1 call"
	}
	if !v.HasFirst {
		return "The first tick that is kept: the state before it is not known."
	}
	return fmt.Sprintf("The tick had %s and created %d, changed %d and erased %d items.", calls, all.Created, all.Changed, all.Erased)
}

func (e verdict) Holds() bool { return e.Err == nil }

// PanicStack returns the stack of a check that panicked, or "".
func (e verdict) PanicStack() string {
	if p, ok := errors.AsType[*store.PanicError](e.Err); ok {
		return cut(string(p.Stack), maxStack)
	}
	return ""
}

// A valueView is a field with the addresses of its handles.
type valueView struct {
	Query query
	field
}

// Only returns the handle if the value is one, else 0.
func (v valueView) Only() store.ID {
	if len(v.Links) == 1 && v.Links[0].String() == v.Text {
		return v.Links[0]
	}
	return 0
}

type cellView struct {
	Query query
	Row   gridRow
	gridCell
}

type gridView struct {
	Query query
	*grid
}

// A changeView is a change with bounded texts.
type changeView struct {
	Change
	From, To string
	At       string // address of the item in the tick
}

func newChangeView(q query, change Change) changeView {
	q.Field = change.Field
	return changeView{change, cut(change.From, 4*maxText), cut(change.To, 4*maxText), q.At(change.Tick)}
}
