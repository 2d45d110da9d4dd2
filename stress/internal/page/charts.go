package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"handloom/internal/chart"
	"handloom/internal/report"
	"handloom/stress/internal/feed"
)

const (
	maxTableLines = 6  // tables that have a line of their own
	maxShardBars  = 24 // shards that have a bar of their own
)

var elapsed = chart.Axis{Title: "since the start", Unit: chart.Nanoseconds}

// figures returns the charts of a run, and in words what did not change: a level
// line says no more than a sentence. What has no value is left out: not every run
// has ticks, shards, or a heap of its own.
func figures(c *feed.Collector) (charts []chart.Chart, level []string) {
	for _, l := range []chart.Lines{rate(c), live(c), tickTime(c), flushTime(c), balance(c), heap(c)} {
		if len(l.Series) == 0 || len(c.Points) == 0 {
			continue
		}
		low, high := extent(l.Series[0])
		switch {
		case high == 0:
		case l.Limit == nil && len(c.Points) > 1 && !slices.ContainsFunc(l.Series, changes):
			level = append(level, inWords(l))
		default:
			if l.Says == "" && changes(l.Series[0]) {
				l.Says = strings.TrimSpace(fmt.Sprintf("Between %s and %s %s", l.Y.Unit.Format(low), l.Y.Unit.Format(high), ofFirst(l))) + "."
			}
			charts = append(charts, l)
		}
	}
	if len(c.Shards) > 1 && !even(c.Shards) {
		charts = append(charts, load(c))
	}
	return charts, level
}

// ofFirst says which of several lines a sentence is about.
func ofFirst(l chart.Lines) string {
	if len(l.Series) < 2 {
		return ""
	}
	return "(" + l.Series[0].Name + ")"
}

// flat is by which share of itself a line may change and still be called level.
const flat = 0.02

// extent returns the least and the greatest value of a line that has some.
func extent(s chart.Series) (low, high float64) {
	low, high = s.Points[0].Y.At, s.Points[0].Y.At
	for _, p := range s.Points {
		low, high = min(low, p.Y.At), max(high, p.Y.At)
	}
	return low, high
}

func changes(s chart.Series) bool {
	low, high := extent(s)
	return high-low > flat*high
}

// inWords returns what level lines say.
func inWords(l chart.Lines) string {
	var values []string
	for _, s := range l.Series {
		_, high := extent(s)
		values = append(values, strings.TrimSpace(s.Name+" "+l.Y.Unit.Format(high)))
	}
	return l.Title + ": " + strings.Join(values, ", ") + " throughout."
}

// even reports whether the shards of each table hold about the same.
func even(shards []feed.Shard) bool {
	least, most := make(map[string]int), make(map[string]int)
	for _, s := range shards {
		if n, ok := least[s.Table]; !ok || s.Live < n {
			least[s.Table] = s.Live
		}
		most[s.Table] = max(most[s.Table], s.Live)
	}
	for table, n := range most {
		if float64(n-least[table]) > flat*float64(n) {
			return false
		}
	}
	return true
}

// line returns one value of every point.
func line(c *feed.Collector, name string, value func(*feed.Point) float64) chart.Series {
	return bandOf(c, name, func(p *feed.Point) chart.Value { return chart.Value{At: value(p)} })
}

func bandOf(c *feed.Collector, name string, value func(*feed.Point) chart.Value) chart.Series {
	s := chart.Series{Name: name}
	for i := range c.Points {
		s.Points = append(s.Points, chart.Point{X: float64(c.Points[i].At), Y: value(&c.Points[i])})
	}
	return s
}

func rate(c *feed.Collector) chart.Lines {
	return chart.Lines{
		Title: strings.ToUpper(unit(c)[:1]) + unit(c)[1:] + " per second", X: elapsed,
		Series: []chart.Series{line(c, "", func(p *feed.Point) float64 { return p.Rate() })},
	}
}

// unit returns what the run counts.
func unit(c *feed.Collector) string { return cmp.Or(c.Start.Unit, "operations") }

func live(c *feed.Collector) chart.Lines {
	l := chart.Lines{Title: "Live items", X: elapsed}
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
	return percentiles(c, "Flush time", func(p *feed.Point) *feed.Quantiles { return &p.Flush })
}

func tickTime(c *feed.Collector) chart.Lines {
	l := percentiles(c, "Tick time, from the intended start", func(p *feed.Point) *feed.Quantiles { return &p.Tick })
	if limit := c.Start.MaxP99; limit > 0 {
		l.Limit = &chart.Limit{Name: "limit of the p99, " + report.Duration(limit), At: float64(limit)}
	}
	return l
}

// percentiles is a chart of the median and the p99, in a band up to the longest:
// of fewer than 100 ticks in an interval p99 and longest are one, and lines of both
// would hide each other.
func percentiles(c *feed.Collector, title string, of func(*feed.Point) *feed.Quantiles) chart.Lines {
	l := chart.Lines{
		Title: title, X: elapsed, Y: chart.Axis{Title: "logarithmic", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Series: []chart.Series{
			bandOf(c, "p50, and up to the longest", func(p *feed.Point) chart.Value {
				q := of(p)
				return chart.Value{At: float64(q.P50), Low: float64(q.P50), High: float64(q.Max)}
			}),
			line(c, "p99", func(p *feed.Point) float64 { return float64(of(p).P99) }),
		},
		Note: "Each point is of one interval.",
	}
	middle, longest := worst(c, of)
	if longest > 0 {
		l.Says = fmt.Sprintf("Half took at most %s in the worst interval; the longest took %s.", report.Duration(middle), report.Duration(longest))
	}
	return l
}

// worst returns the greatest median of an interval, and the longest time of all.
func worst(c *feed.Collector, of func(*feed.Point) *feed.Quantiles) (middle, longest time.Duration) {
	for i := range c.Points {
		q := of(&c.Points[i])
		middle, longest = max(middle, q.P50), max(longest, q.Max)
	}
	return middle, longest
}

// load shows the shards as they are; where they are many, the tables.
func load(c *feed.Collector) chart.Chart {
	b := chart.Bars{Title: "Items in each shard", Series: []string{"items"}}
	if len(c.Shards) > maxShardBars {
		b.Title = "Items in the shards of each table"
		b.Series = []string{"fullest shard", "emptiest shard"}
		b.Note = "The table of shards has all of them."
		for _, l := range lastLoads(c) {
			b.Groups = append(b.Groups, chart.Group{Name: l.Table, Values: []chart.Value{{At: float64(l.Fullest)}, {At: float64(l.Emptiest)}}})
		}
		return b
	}
	for _, s := range c.Shards {
		b.Groups = append(b.Groups, chart.Group{Name: fmt.Sprintf("%s %d", s.Table, s.Index), Values: []chart.Value{{At: float64(s.Live)}}})
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
		Title: "Fullest shard of a table, by the mean", X: elapsed, Y: chart.Axis{Unit: chart.Times},
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
		Title: "Heap, garbage included", X: elapsed, Y: chart.Axis{Unit: chart.Bytes},
		Series: []chart.Series{line(c, "", func(p *feed.Point) float64 { return float64(p.Heap) })},
	}
	if limit := c.Start.MaxHeap; limit > 0 {
		l.Limit = &chart.Limit{Name: "limit, " + report.Bytes(limit), At: float64(limit)}
	}
	return l
}
