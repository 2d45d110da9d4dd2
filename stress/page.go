package main

import (
	_ "embed"
	"time"

	"handloom/internal/chart"
)

//go:embed page.css
var pageCSS string

// runPage is the content of the report of a run: one HTML file with charts,
// without scripts or links to other files.
type runPage struct {
	Title    string
	Command  string // repeats the run
	Unit     string // unit of Point.Done, plural
	Facts    []fact // seed, workers, sizes
	Failures []pageFailure
	Verdict  string // verdict, exit code and reason in one line
	ExitCode int
	Totals   []fact
	Elapsed  time.Duration

	points []chart.Point // X: nanoseconds since the start, Y: operations so far
}

type fact struct{ Name, Value string }

type pageFailure struct {
	What   string // one line
	Replay string
	Detail string
}

const maxPoints = 600 // half the width of a chart in pixels

// addPoint adds a point. At 600 points it drops every other point first.
func (r *runPage) addPoint(at time.Duration, done int) {
	if len(r.points) == maxPoints {
		for i := range maxPoints / 2 {
			r.points[i] = r.points[2*i+1]
		}
		r.points = r.points[:maxPoints/2]
	}
	r.points = append(r.points, chart.Point{X: float64(at), Y: float64(done)})
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

func (r *runPage) speed() chart.Chart {
	var rate chart.Series
	var last chart.Point
	for _, p := range r.points {
		if seconds := (p.X - last.X) / 1e9; seconds > 0 {
			rate.Points = append(rate.Points, chart.Point{X: p.X, Y: (p.Y - last.Y) / seconds})
		}
		last = p
	}
	since := chart.Axis{Title: "since the start", Unit: chart.Nanoseconds}
	return chart.Lines{Title: "Speed, in " + r.Unit + " per second", X: since, Series: []chart.Series{rate}}
}
