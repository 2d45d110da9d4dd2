package storeweb

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"handloom/internal/chart"
	"handloom/internal/report"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var (
	style = chart.Style + chart.FrameStyle + pageCSS
	pages = template.Must(template.New("page").Funcs(template.FuncMap{
		"count":    report.Count,
		"bytes":    report.Bytes,
		"heap":     func(n uint64) string { return report.Bytes(int64(n)) },
		"duration": report.Duration,
		"grouped":  func(n uint64) string { return grouped(strconv.FormatUint(n, 10)) },
		"link":     link,
	}).Parse(pageHTML))
)

// program is the name of the running program, with its process number.
var program = fmt.Sprintf("%s, process %d", strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe"), os.Getpid())

// policy allows one style sheet, the icon and forms to this page.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// write writes the answer in the requested format.
func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Security-Policy", policy)
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Vary", "Accept")
	head.Set("X-Content-Type-Options", "nosniff")
	var b bytes.Buffer
	var err error
	if wantsJSON(r) {
		head.Set("Content-Type", "application/json")
		var data any = a
		if a.Figures != nil {
			data = a.Figures
		}
		err = json.NewEncoder(&b).Encode(data)
	} else {
		head.Set("Content-Type", "text/html; charset=utf-8")
		err = pages.Execute(&b, a)
	}
	if err != nil { // a status that cannot be JSON
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if a.Status == http.StatusMethodNotAllowed {
		head.Set("Allow", "GET, HEAD")
	}
	if a.Status == http.StatusServiceUnavailable {
		head.Set("Retry-After", "1")
	}
	head.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(a.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // a client that left reads nothing
	}
}

// The template calls these methods.

func (a *answer) Style() template.CSS { return template.CSS(style) }

// Icon returns the icon as an address, because the pages load nothing.
func (a *answer) Icon() template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(chart.Icon))
}

func (a *answer) Program() string { return program }

// Refresh returns the seconds until a reload; 0: never.
func (a *answer) Refresh() int { return a.asked.refresh }

func (a *answer) Title() string {
	if a.Table != nil {
		return "Table " + a.Table.Stats.Name
	}
	if a.Figures != nil {
		return a.Figures.Title
	}
	if a.Store == nil {
		return http.StatusText(a.Status)
	}
	return "Store"
}

func (o *overview) Live() (n int) {
	for _, t := range o.Stats {
		n += t.Live
	}
	return n
}

func (o *overview) Bytes() (n int64) {
	for _, t := range o.Stats {
		n += t.Bytes
	}
	return n
}

func (o *overview) Says() string {
	text := fmt.Sprintf("%s items in %s tables take %s.", report.Count(o.Live()), report.Count(len(o.Stats)), report.Bytes(o.Bytes()))
	if r := o.Recent; r != nil {
		text += fmt.Sprintf(" In the last %s: %s.", seconds(r.Seconds), r.says())
	}
	return text
}

func (r *recent) says() string {
	if r.Flushes == 0 {
		return "no flush"
	}
	return fmt.Sprintf("flushes %s, created %s, erased %s; a flush takes %s in the mean", rate(int(r.Flushes), r.Seconds),
		rate(r.Flushed.Total.Created, r.Seconds), rate(r.Flushed.Total.Erased, r.Seconds), r.mean())
}

func (r *recent) mean() string {
	return report.Duration((r.Flushed.Plan + r.Flushed.Apply) / time.Duration(r.Flushes))
}

// MeanPlan and MeanApply are the mean durations before and after the commit point.
func (o *overview) MeanPlan() string  { return o.mean(o.Flushed.Plan) }
func (o *overview) MeanApply() string { return o.mean(o.Flushed.Apply) }

func (o *overview) mean(d time.Duration) string {
	if o.Flushed.Epoch == 0 {
		return "-"
	}
	return report.Duration(d / time.Duration(o.Flushed.Epoch))
}

func seconds(s float64) string { return report.Duration(time.Duration(s * float64(time.Second))) }

func rate(n int, s float64) string { return report.Rate(n, time.Duration(s*float64(time.Second))) }

type row struct {
	Name, Link                             string
	Live, Memory, Shards, Vacant, Depleted string
	Created, Erased, Put                   string // per second
}

func (o *overview) Rows() []row {
	var rows []row
	for i, t := range o.Stats {
		r := row{
			Name: t.Name, Link: link("table", t.Name), Live: report.Count(t.Live), Shards: report.Count(t.Shards), Vacant: report.Count(t.Vacant),
			Depleted: report.Count(t.Depleted), Memory: report.Bytes(t.Bytes), Created: "-", Erased: "-", Put: "-",
		}
		if o.Recent != nil {
			done := o.Recent.Flushed.Tables[i]
			r.Created, r.Erased, r.Put = o.Recent.Rate(done.Created), o.Recent.Rate(done.Erased), o.Recent.Rate(done.Put)
		}
		rows = append(rows, r)
	}
	return rows
}
