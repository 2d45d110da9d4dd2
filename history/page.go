package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"handloom/internal/localpage"
	"handloom/store/storeweb"
	"handloom/world"
)

// A page shows the cursor of a History by package storeweb, with a bar for the tick. The path of an
// address is the tick, because the links of storeweb are queries, which keep the path.
type page struct {
	*History
	queue chan struct{} // full while a request uses the History
}

func newPage(h *History) *page { return &page{h, make(chan struct{}, 1)} }

// handler answers requests of this machine that read.
func (p *page) handler(address string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", p.find)
	mux.HandleFunc("GET /{tick}", p.show)
	return localpage.Guard(address, mux)
}

// find leads to the tick of the form, or to the newest one.
func (p *page) find(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()
	tick := cmp.Or(strings.TrimSpace(values.Get("tick")), strconv.FormatUint(p.newest(), 10))
	values.Del("tick")
	http.Redirect(w, r, pathTo(url.PathEscape(tick), values), http.StatusSeeOther)
}

func pathTo(tick string, values url.Values) string {
	return strings.TrimSuffix("/"+tick+"?"+values.Encode(), "?")
}

// newest returns the last tick that the program can play.
func (p *page) newest() (tick uint64) {
	for i := range p.spans {
		if p.plays(&p.spans[i]) {
			tick = max(tick, p.spans[i].Last)
		}
	}
	return tick
}

// A bar is the head of a page.
type bar struct {
	Tick           string
	At             world.Tick // zero: there is no state
	Error          error
	Query          url.Values
	Previous, Next string // addresses; "": the log does not keep the tick
	Ranges         []string
}

// The pages of storeweb have the styles of the classes.
var barHTML = template.Must(template.New("bar").Parse(`<div class="pager">
<form action="/">{{range $name, $values := .Query}}{{range $values}}<input type="hidden" name="{{$name}}" value="{{.}}">{{end}}{{end}}
<label>tick <input name="tick" value="{{.Tick}}" inputmode="numeric"></label> <button>Show</button></form>
{{with .Previous}}<a href="{{.}}">Previous tick</a>{{end}}
{{with .Next}}<a href="{{.}}">Next tick</a>{{end}}
{{if not .At.Time.IsZero}}<span>at {{.At.Time.UTC.Format "2006-01-02 15:04:05.000 MST"}}</span>{{end}}
</div>
<p class="note">{{range .Ranges}}{{.}}<br>{{end}}</p>
{{with .Error}}<p class="error">{{.}}</p>{{end}}
`))

// show writes the page of a tick. It writes when the next request may use the History, because a
// client may be slow.
func (p *page) show(w http.ResponseWriter, r *http.Request) {
	b := bar{Tick: r.PathValue("tick"), Query: r.URL.Query()}
	for i := range p.spans {
		b.Ranges = append(b.Ranges, p.describe(&p.spans[i]))
	}
	a := &answer{ResponseWriter: w, status: http.StatusBadRequest}
	tick, err := strconv.ParseUint(b.Tick, 10, 64)
	if err != nil {
		b.Error = fmt.Errorf("tick: got %q, want a whole number", b.Tick)
	} else {
		// Before tick 0 comes the largest number, which no range has.
		b.Previous, b.Next = p.link(tick-1, b.Query), p.link(tick+1, b.Query)
		b.At, b.Error = p.draw(a, r, tick)
	}
	a.write(&b)
}

func (p *page) link(tick uint64, values url.Values) string {
	if _, err := p.spanOf(tick, tick); err != nil {
		return ""
	}
	return pathTo(strconv.FormatUint(tick, 10), values)
}

// draw seeks a tick and draws the page of its store. Each page has a handler of its own, because
// rates between two ticks would be wrong.
func (p *page) draw(a *answer, r *http.Request, tick uint64) (world.Tick, error) {
	ctx := r.Context()
	// A History has one caller at a time. A client that leaves does not wait for its turn.
	select {
	case p.queue <- struct{}{}:
		defer func() { <-p.queue }()
	case <-ctx.Done():
		return world.Tick{}, context.Cause(ctx)
	}
	s, at, err := p.Seek(ctx, tick)
	switch {
	case err == nil:
		storeweb.Handler(s).ServeHTTP(a, r)
	case errors.Is(err, ErrRange), errors.Is(err, world.ErrVersion):
		a.status = http.StatusNotFound
	default:
		a.status = http.StatusInternalServerError
	}
	return at, err
}

// An answer keeps the page of a store.
type answer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// noState begins a page without a state, which storeweb does not draw.
const noState = `<!DOCTYPE html>
<html lang="en">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tick</title>
<style>:root { color-scheme: light dark } body { font: 15px system-ui, sans-serif; margin: 16px }</style>
`

// write writes the page with the bar. JSON has no bar.
func (a *answer) write(b *bar) {
	const main = "<main>\n"
	if b.Error != nil {
		a.Header().Set("Content-Type", "text/html; charset=utf-8")
		a.body.WriteString(noState + main + "</main>\n</html>\n")
	}
	before, after, ok := bytes.Cut(a.body.Bytes(), []byte(main))
	var out bytes.Buffer
	out.Write(before)
	if ok {
		out.WriteString(main)
		_ = barHTML.Execute(&out, b) // a buffer takes everything
	}
	out.Write(after)
	// The bar makes the page longer than storeweb knows.
	a.Header().Del("Content-Length")
	a.ResponseWriter.WriteHeader(a.status)
	_, _ = a.ResponseWriter.Write(out.Bytes()) // a client that left reads nothing
}
