package main

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

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// runPage is the content of the report of a run: one HTML file with charts, without
// scripts and without links to other files. A content security policy forbids both.
type runPage struct {
	Title    string
	Command  string // command line that repeats the run
	Unit     string // of Point.Done, a plural such as operations
	Facts    []fact // seed, workers, sizes
	Failures []pageFailure
	Verdict  string // verdict, exit code and reason in one line
	ExitCode int
	Totals   []fact
	Elapsed  time.Duration

	points []pagePoint
}

// fact is a named figure for people.
type fact struct{ Name, Value string }

// pageFailure is one failure of a run.
type pageFailure struct {
	What   string // one line
	Replay string // command line that shows it again
	Detail string // any number of lines
}

// pagePoint is the progress of a run at one time.
type pagePoint struct {
	At   time.Duration // since the start
	Done int           // operations so far
}

const maxPoints = 600 // half the width of a chart in pixels

// addPoint adds a point. At 600 points every other point is dropped first.
func (r *runPage) addPoint(p pagePoint) {
	if len(r.points) == maxPoints {
		for i := range maxPoints / 2 {
			r.points[i] = r.points[2*i+1]
		}
		r.points = r.points[:maxPoints/2]
	}
	r.points = append(r.points, p)
}

// pageView is a run with the texts of the template.
type pageView struct {
	runPage
	Mood, Says string // the mood is good, bad or empty
	Speed      template.HTML
	Style      template.CSS
}

// renderPage writes the report of a run. It fails when out does.
func renderPage(out io.Writer, r runPage) error {
	v := pageView{runPage: r, Mood: pageMood(r.ExitCode), Style: template.CSS(chart.Style + pageCSS)}
	v.Facts = append(append([]fact{}, r.Facts...), fact{"time", report.Duration(r.Elapsed)}, fact{"Go", runtime.Version()},
		fact{"platform", runtime.GOOS + "/" + runtime.GOARCH}, fact{"GOMAXPROCS", fmt.Sprint(runtime.GOMAXPROCS(0))})
	if n := len(r.points); n > 0 {
		done := r.points[n-1].Done
		v.Says = fmt.Sprintf("%s %s in %s, %s.", report.Count(done), r.Unit, report.Duration(r.Elapsed), report.Rate(done, r.Elapsed))
		v.Speed = template.HTML(chart.Figure(r.speed())) // escaped there
	}
	return pageTemplate.Execute(out, v)
}

func pageMood(exitCode int) string {
	switch exitCode {
	case 0:
		return "good"
	case 1, 130, 143: // inconclusive, interrupted, terminated
		return ""
	}
	return "bad"
}

// speed returns the chart of the points.
func (r *runPage) speed() chart.Chart {
	var rate chart.Series
	var last pagePoint
	for _, p := range r.points {
		if interval := p.At - last.At; interval > 0 {
			rate.Points = append(rate.Points, chart.Point{X: float64(p.At), Y: float64(p.Done-last.Done) / interval.Seconds()})
		}
		last = p
	}
	since := chart.Axis{Title: "since the start", Unit: chart.Nanoseconds}
	return chart.Lines{Title: "Speed, in " + r.Unit + " per second", X: since, Series: []chart.Series{rate}}
}
