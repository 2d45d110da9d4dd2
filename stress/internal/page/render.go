package page

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"handloom/internal/chart"
	"handloom/internal/report"
	"handloom/stress/internal/feed"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

var pages = template.Must(template.New("page").Parse(pageHTML))

// filePolicy is the content security policy of a report.
const filePolicy = "default-src 'none'; style-src 'unsafe-inline'"

// livePolicy returns that of the live page, which has the one script.
func livePolicy() string {
	sum := sha256.Sum256([]byte(pageJS))
	return filePolicy + "; connect-src 'self'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// view is what the template shows.
type view struct {
	Title, Command string
	Verdict, Mood  string // the mood is good, late, bad or neither
	Says           string // what to take away
	Facts, Totals  []feed.Fact
	Failures       []feed.Failure
	Failed         int
	Progress       []string
	Charts         []template.HTML
	Level          []string // what would be a level line
	Shards         []shardRow

	Policy string
	Style  template.CSS
	Script template.JS
}

// More reports whether some failures are not shown.
func (v view) More() bool { return v.Failed > len(v.Failures) }

type shardRow struct {
	Table       string
	First       int // the number of the table, from 1, in its first row
	Index       int
	Items, Part string
}

func newView(c *feed.Collector) view {
	v := view{
		Title: c.Start.Title, Command: c.Start.Command, Facts: facts(c),
		Failures: c.Failures, Failed: c.Failed, Progress: c.Progress, Shards: shardRows(c),
		Style: template.CSS(chart.Style + pageCSS),
	}
	v.Verdict, v.Mood = verdict(c)
	if c.Verdict != nil {
		v.Totals = c.Verdict.Totals
	}
	v.Says = says(c)
	charts, level := figures(c)
	v.Level = level
	for _, figure := range charts {
		v.Charts = append(v.Charts, template.HTML(chart.Figure(figure))) // escaped there
	}
	return v
}

// facts says where and how long the run ran.
func facts(c *feed.Collector) []feed.Fact {
	all := append([]feed.Fact{}, c.Start.Details...)
	all = append(all, feed.Fact{Name: "time", Value: report.Duration(c.Elapsed)})
	if n := len(c.Points); n > 0 {
		last := &c.Points[n-1]
		for _, f := range []struct {
			name  string
			value int
		}{{"ticks", last.Ticks}, {"late ticks", last.Late}, {"items", last.Live}, {"goroutines", last.Goroutines}} {
			if last.Ticks > 0 { // not every run has them
				all = append(all, feed.Fact{Name: f.name, Value: report.Count(f.value)})
			}
		}
	}
	return append(all, feed.Fact{Name: "Go", Value: c.Start.Go}, feed.Fact{Name: "platform", Value: c.Start.Platform},
		feed.Fact{Name: "GOMAXPROCS", Value: fmt.Sprint(c.Start.GOMAXPROCS)})
}

// verdict returns the verdict, or how it looks so far, and its mood.
func verdict(c *feed.Collector) (text, mood string) {
	if v := c.Verdict; v != nil {
		text = fmt.Sprintf("verdict: %s (exit code %d): %s", v.Verdict, v.ExitCode, v.Reason)
		return text, moodOf(v)
	}
	text = "running"
	if n := len(c.Points); n > 0 && c.Points[n-1].Verdict != "" {
		text = "so far: " + c.Points[n-1].Verdict
		if c.Points[n-1].Verdict == feed.Late {
			mood = "late"
		}
	}
	if c.Failed > 0 {
		return text + ", failures " + report.Count(c.Failed), "bad"
	}
	return text, mood
}

func moodOf(v *feed.Verdict) string {
	switch v.ExitCode {
	case 0:
		if v.Verdict == feed.Late {
			return "late"
		}
		return "good"
	case 1, 130, 143: // inconclusive, interrupted, terminated
		return ""
	}
	return "bad"
}

// says tells in a sentence what a run came to.
func says(c *feed.Collector) string {
	n := len(c.Points)
	if n == 0 {
		return ""
	}
	done, last := 0, &c.Points[n-1]
	for i := range c.Points {
		done += c.Points[i].Operations
	}
	text := fmt.Sprintf("%s %s in %s, %s", report.Count(done), unit(c), report.Duration(c.Elapsed), report.Rate(done, c.Elapsed))
	if _, longest := worst(c, func(p *feed.Point) *feed.Quantiles { return &p.Flush }); longest > 0 {
		text += "; no flush took longer than " + report.Duration(longest)
	}
	switch {
	case last.Ticks > 0 && last.Late > 0:
		text += fmt.Sprintf("; %s of %s ticks were late", report.Count(last.Late), report.Count(last.Ticks))
	case last.Ticks > 0:
		text += fmt.Sprintf("; none of %s ticks was late", report.Count(last.Ticks))
	}
	return text + "."
}

func shardRows(c *feed.Collector) []shardRow {
	sums := make(map[string]int)
	for _, s := range c.Shards {
		sums[s.Table] += s.Live
	}
	var rows []shardRow
	tables := 0
	for i, s := range c.Shards {
		r := shardRow{Table: s.Table, Index: s.Index, Items: report.Count(s.Live), Part: "-"}
		if sum := sums[s.Table]; sum > 0 {
			r.Part = fmt.Sprintf("%.1f %%", 100*float64(s.Live)/float64(sum))
		}
		if i == 0 || c.Shards[i-1].Table != s.Table {
			tables++
			r.First = tables
		}
		rows = append(rows, r)
	}
	return rows
}

// Report writes the run as a page that needs no other file, with more charts
// behind those of every run. It fails when out does.
func Report(out io.Writer, c *feed.Collector, more ...chart.Chart) error {
	v := newView(c)
	v.Policy = filePolicy
	for _, figure := range more {
		v.Charts = append(v.Charts, template.HTML(chart.Figure(figure))) // escaped there
	}
	return pages.Execute(out, v)
}

// whole returns the live page as it is now.
func whole(c *feed.Collector) ([]byte, error) {
	v := newView(c)
	v.Script = template.JS(pageJS)
	var b bytes.Buffer
	err := pages.Execute(&b, v)
	return b.Bytes(), err
}

// body returns the part of the live page that changes.
func body(c *feed.Collector) ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, "body", newView(c))
	return b.Bytes(), err
}
