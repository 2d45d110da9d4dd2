package storeweb

import (
	"html/template"
	"math"
	"slices"
	"time"

	"handloom/internal/chart"
)

// Charts draws the intervals between requests, except constant ones.
func (o *overview) Charts() []template.HTML {
	if len(o.points) < 2 {
		return nil
	}
	since := chart.Axis{Title: "time since the first request", Unit: chart.Nanoseconds}
	lines := []chart.Lines{
		{Title: "Commands applied", X: since, Y: chart.Axis{Title: "per second"}, Series: []chart.Series{
			o.series("created", func(p *point) float64 { return p.created }),
			o.series("erased", func(p *point) float64 { return p.erased }),
			o.series("put", func(p *point) float64 { return p.put }),
		}},
		{Title: "Live items of all tables", X: since, Series: []chart.Series{
			o.series("live", func(p *point) float64 { return float64(p.live) }),
		}},
		{Title: "Time of a flush, mean", X: since, Y: chart.Axis{Unit: chart.Nanoseconds}, Series: []chart.Series{
			o.series("flush", func(p *point) float64 { return p.flush }),
		}},
	}
	var all []template.HTML
	for _, line := range lines {
		if varies(line) {
			all = append(all, template.HTML(chart.Figure(line))) // escaped by the chart package
		}
	}
	return all
}

func (o *overview) series(name string, value func(p *point) float64) chart.Series {
	s := chart.Series{Name: name}
	for i := range o.points {
		p := &o.points[i]
		s.Points = append(s.Points, chart.Point{X: float64(p.at.Sub(o.points[0].at) / time.Nanosecond), Y: value(p)})
	}
	return s
}

// varies reports whether any line is not constant.
func varies(l chart.Lines) bool {
	return slices.ContainsFunc(l.Series, func(s chart.Series) bool {
		known := slices.DeleteFunc(slices.Clone(s.Points), func(p chart.Point) bool { return math.IsNaN(p.Y) })
		return slices.ContainsFunc(known, func(p chart.Point) bool { return p.Y != known[0].Y })
	})
}
