package page

import (
	"fmt"
	"slices"
	"time"

	"handloom/internal/chart"
	"handloom/internal/report"
	"handloom/stress/internal/feed"
)

const (
	maxTableLines = 6  // tables that have a line of their own
	maxShardBars  = 24 // shards that have a bar of their own
)

var elapsed = chart.Axis{Title: "time since the start", Unit: chart.Nanoseconds}

// figures returns the charts of a run. Those without a value are left out: not
// every run has ticks, shards, or a heap of its own.
func figures(c *feed.Collector) []chart.Chart {
	var charts []chart.Chart
	for _, l := range []chart.Lines{rate(c), live(c), tickTime(c), flushTime(c), balance(c)} {
		if some(l) {
			charts = append(charts, l)
		}
	}
	if len(c.Shards) > 0 {
		charts = append(charts, load(c))
	}
	if l := heap(c); some(l) {
		charts = append(charts, l)
	}
	return charts
}

// some reports whether a chart has a value above 0.
func some(l chart.Lines) bool {
	for _, s := range l.Series {
		if slices.ContainsFunc(s.Points, func(p chart.Point) bool { return p.Y > 0 }) {
			return true
		}
	}
	return false
}

// line returns one value of every point.
func line(c *feed.Collector, name string, value func(*feed.Point) float64) chart.Series {
	s := chart.Series{Name: name}
	for i := range c.Points {
		s.Points = append(s.Points, chart.Point{X: float64(c.Points[i].At), Y: value(&c.Points[i])})
	}
	return s
}

func rate(c *feed.Collector) chart.Lines {
	unit := c.Start.Unit
	if unit == "" {
		unit = "operations"
	}
	return chart.Lines{
		Title: "Rate: " + unit + " per second", X: elapsed, Y: chart.Axis{Title: unit + " per second"},
		Series: []chart.Series{line(c, unit, func(p *feed.Point) float64 { return p.Rate() })},
	}
}

func live(c *feed.Collector) chart.Lines {
	l := chart.Lines{Title: "Live items", X: elapsed, Y: chart.Axis{Title: "items"}}
	l.Series = append(l.Series, line(c, "all tables", func(p *feed.Point) float64 { return float64(p.Live) }))
	names := tables(c)
	if len(names) < 2 || len(names) >= maxTableLines {
		return l
	}
	for i, name := range names {
		l.Series = append(l.Series, line(c, name, func(p *feed.Point) float64 {
			if i >= len(p.Loads) {
				return 0
			}
			return float64(p.Loads[i].Live)
		}))
	}
	return l
}

// tables returns the names of the tables that the last point has.
func tables(c *feed.Collector) []string {
	var names []string
	if n := len(c.Points); n > 0 {
		for _, l := range c.Points[n-1].Loads {
			names = append(names, l.Table)
		}
	}
	return names
}

func flushTime(c *feed.Collector) chart.Lines {
	return percentiles(c, "Flush time", "flush time", func(p *feed.Point) *feed.Quantiles { return &p.Flush })
}

func tickTime(c *feed.Collector) chart.Lines {
	l := percentiles(c, "Tick time, from the intended start", "tick time",
		func(p *feed.Point) *feed.Quantiles { return &p.Tick })
	if limit := c.Start.MaxP99; limit > 0 {
		l.Limit = &chart.Limit{Name: "limit of the p99, " + report.Duration(limit), At: float64(limit)}
	}
	return l
}

// percentiles is a chart of quantiles.
func percentiles(c *feed.Collector, title, of string, q func(*feed.Point) *feed.Quantiles) chart.Lines {
	l := chart.Lines{
		Title: title, X: elapsed,
		Y:    chart.Axis{Title: of + ", logarithmic", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Note: "Each point is of one interval. Of fewer than 100 ticks the p99 is the longest.",
	}
	for _, kind := range []struct {
		name  string
		value func(*feed.Quantiles) time.Duration
	}{
		{"p50", func(q *feed.Quantiles) time.Duration { return q.P50 }},
		{"p99", func(q *feed.Quantiles) time.Duration { return q.P99 }},
		{"p99.9", func(q *feed.Quantiles) time.Duration { return q.P999 }},
		{"max", func(q *feed.Quantiles) time.Duration { return q.Max }},
	} {
		l.Series = append(l.Series, line(c, kind.name, func(p *feed.Point) float64 { return float64(kind.value(q(p))) }))
	}
	return l
}

// load shows the shards as they are; where they are many, the tables.
func load(c *feed.Collector) chart.Chart {
	b := chart.Bars{Title: "Load of each shard", X: chart.Axis{Title: "items"}, Series: []string{"items"}}
	if len(c.Shards) > maxShardBars {
		b.Title = "Load of the shards of each table"
		b.Series = []string{"fullest shard", "emptiest shard"}
		b.Note = "The table of shards has all of them."
		for _, l := range lastLoads(c) {
			b.Groups = append(b.Groups, chart.Group{Name: l.Table, Values: []float64{float64(l.Fullest), float64(l.Emptiest)}})
		}
		return b
	}
	for _, s := range c.Shards {
		b.Groups = append(b.Groups, chart.Group{Name: fmt.Sprintf("%s %d", s.Table, s.Index), Values: []float64{float64(s.Live)}})
	}
	return b
}

func lastLoads(c *feed.Collector) []feed.Load {
	if n := len(c.Points); n > 0 {
		all := c.Points[n-1].Loads
		return all[:min(len(all), maxShardBars)]
	}
	return nil
}

// balance shows how evenly the shards of each table were loaded over time, of
// those that have more than one.
func balance(c *feed.Collector) chart.Lines {
	l := chart.Lines{
		Title: "Balance of shards: the fullest by the mean", X: elapsed,
		Y: chart.Axis{Title: "times the mean of the table's shards", Unit: chart.Times},
	}
	for i, load := range lastLoads(c) {
		if load.Shards < 2 || len(l.Series) == maxTableLines {
			continue
		}
		l.Series = append(l.Series, line(c, load.Table, func(p *feed.Point) float64 {
			if i >= len(p.Loads) || p.Loads[i].Live == 0 {
				return 0
			}
			of := p.Loads[i]
			return float64(of.Fullest) * float64(of.Shards) / float64(of.Live)
		}))
	}
	return l
}

func heap(c *feed.Collector) chart.Lines {
	l := chart.Lines{
		Title: "Heap", X: elapsed, Y: chart.Axis{Title: "heap objects, garbage included", Unit: chart.Bytes},
		Series: []chart.Series{line(c, "heap", func(p *feed.Point) float64 { return float64(p.Heap) })},
	}
	if limit := c.Start.MaxHeap; limit > 0 {
		l.Limit = &chart.Limit{Name: "limit, " + report.Bytes(limit), At: float64(limit)}
	}
	return l
}
