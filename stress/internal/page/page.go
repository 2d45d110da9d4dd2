// Package page writes the report of a run: one HTML file with charts, without scripts
// and without links to other files. A content security policy forbids both.
package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"runtime"
	"time"

	"handloom/internal/chart"
	"handloom/internal/report"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pages = template.Must(template.New("page").Parse(pageHTML))

// Run is the content of a report.
type Run struct {
	Title    string
	Command  string // command line that repeats the run
	Unit     string // of Point.Done, a plural such as operations
	Facts    []Fact // seed, workers, sizes
	Failures []Failure
	Verdict  string // verdict, exit code and reason in one line
	ExitCode int
	Totals   []Fact
	Elapsed  time.Duration
	Charts   []chart.Chart // after the charts of the points

	points []Point
}

// Fact is a named figure for people.
type Fact struct{ Name, Value string }

// Failure is one failure of a run.
type Failure struct {
	What   string // one line
	Replay string // command line that shows it again
	Detail string // any number of lines
}

// Point is the progress of a run at one time.
type Point struct {
	At         time.Duration // since the start
	Done, Live int           // operations so far, and live items
}

const maxPoints = 600 // half the width of a chart in pixels

// Add adds a point. At 600 points every other point is dropped first.
func (r *Run) Add(p Point) {
	if len(r.points) == maxPoints {
		for i := range maxPoints / 2 {
			r.points[i] = r.points[2*i+1]
		}
		r.points = r.points[:maxPoints/2]
	}
	r.points = append(r.points, p)
}

// view is a run with the texts of the template.
type view struct {
	Run
	Mood, Says string // the mood is good, bad or empty
	Drawn      []template.HTML
	Style      template.CSS
}

// Write writes the report of a run. It fails when out does.
func Write(out io.Writer, r Run) error {
	v := view{Run: r, Mood: mood(r.ExitCode), Style: template.CSS(chart.Style + pageCSS)}
	v.Facts = append(append([]Fact{}, r.Facts...), Fact{"time", report.Duration(r.Elapsed)}, Fact{"Go", runtime.Version()},
		Fact{"platform", runtime.GOOS + "/" + runtime.GOARCH}, Fact{"GOMAXPROCS", fmt.Sprint(runtime.GOMAXPROCS(0))})
	if n := len(r.points); n > 0 {
		done := r.points[n-1].Done
		v.Says = fmt.Sprintf("%s %s in %s, %s.", report.Count(done), r.Unit, report.Duration(r.Elapsed), report.Rate(done, r.Elapsed))
	}
	for _, c := range append(r.progress(), r.Charts...) {
		v.Drawn = append(v.Drawn, template.HTML(chart.Figure(c))) // escaped there
	}
	return pages.Execute(out, v)
}

func mood(exitCode int) string {
	switch exitCode {
	case 0:
		return "good"
	case 1, 130, 143: // inconclusive, interrupted, terminated
		return ""
	}
	return "bad"
}

// progress returns the charts of the points. A run without live items has one chart.
func (r *Run) progress() []chart.Chart {
	var rate, live chart.Series
	var last Point
	hasItems := false
	for _, p := range r.points {
		x := float64(p.At)
		if interval := p.At - last.At; interval > 0 {
			rate.Points = append(rate.Points, chart.Point{X: x, Y: chart.Value{At: float64(p.Done-last.Done) / interval.Seconds()}})
		}
		live.Points = append(live.Points, chart.Point{X: x, Y: chart.Value{At: float64(p.Live)}})
		last, hasItems = p, hasItems || p.Live > 0
	}
	elapsed := chart.Axis{Title: "since the start", Unit: chart.Nanoseconds}
	var charts []chart.Chart
	if len(rate.Points) > 0 {
		charts = append(charts, chart.Lines{Title: "Speed, in " + r.Unit + " per second", X: elapsed, Series: []chart.Series{rate}})
	}
	if hasItems {
		charts = append(charts, chart.Lines{Title: "Live items", X: elapsed, Series: []chart.Series{live}})
	}
	return charts
}
