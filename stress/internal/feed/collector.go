package feed

import (
	"cmp"
	"slices"
	"time"
)

const (
	maxPoints   = 600 // more than a chart is pixels wide, halved
	maxFailures = 50
	maxProgress = 20
)

// Collector is a sink that keeps what a report shows. Its memory is bounded
// however long the run: when there are too many points, each two become one.
type Collector struct {
	Start    Start
	Points   []Point
	Shards   []Shard   // of the last sample
	Progress []string  // the last lines
	Failures []Failure // the first of them
	Failed   int       // all of them
	Verdict  *Verdict  // nil: the run goes on
	Elapsed  time.Duration

	stride int // samples that one point holds
	held   int // samples that the last point holds
}

// Point is what one or more samples come to, and when the last of them was. It
// keeps the loads of tables instead of those of shards.
type Point struct {
	At time.Duration
	Sample
	Loads []Load
}

// Load is how many items a table has, and how evenly its shards hold them.
type Load struct {
	Table             string
	Shards, Live      int
	Fullest, Emptiest int // items of one shard
}

// loads adds up the shards by table, in their order.
func loads(shards []Shard) []Load {
	var all []Load
	for _, s := range shards {
		if n := len(all); n == 0 || all[n-1].Table != s.Table {
			all = append(all, Load{Table: s.Table, Emptiest: s.Live})
		}
		l := &all[len(all)-1]
		l.Shards++
		l.Live += s.Live
		l.Fullest, l.Emptiest = max(l.Fullest, s.Live), min(l.Emptiest, s.Live)
	}
	return all
}

// Event keeps e.
func (c *Collector) Event(e Event) {
	c.Elapsed = max(c.Elapsed, e.Elapsed)
	switch e.Kind {
	case KindStart:
		c.Start = *e.Start
	case KindProgress:
		c.Progress = append(c.Progress, e.Progress.Text)
		if n := len(c.Progress); n > maxProgress {
			c.Progress = slices.Clone(c.Progress[n-maxProgress:])
		}
	case KindSample:
		c.Shards = e.Sample.Shards
		c.add(Point{e.Elapsed, *e.Sample, loads(c.Shards)})
	case KindFailure:
		if c.Failed++; c.Failed <= maxFailures {
			c.Failures = append(c.Failures, *e.Failure)
		}
	case KindVerdict:
		c.Verdict = e.Verdict
	}
}

// Close does nothing.
func (c *Collector) Close() error { return nil }

// Clone returns a copy that later events leave alone.
func (c *Collector) Clone() *Collector {
	o := *c
	o.Points, o.Failures, o.Progress = slices.Clone(c.Points), slices.Clone(c.Failures), slices.Clone(c.Progress)
	return &o
}

func (c *Collector) add(p Point) {
	p.Sample.Shards = nil
	c.stride = cmp.Or(c.stride, 1)
	if n := len(c.Points); n > 0 && c.held < c.stride {
		c.Points[n-1] = join(c.Points[n-1], p)
		c.held++
		return
	}
	if len(c.Points) == maxPoints {
		c.halve()
	}
	c.Points = append(c.Points, p)
	c.held = 1
}

// halve joins each two neighbours.
func (c *Collector) halve() {
	for i := range maxPoints / 2 {
		c.Points[i] = join(c.Points[2*i], c.Points[2*i+1])
	}
	clear(c.Points[maxPoints/2:])
	c.Points = c.Points[:maxPoints/2]
	c.stride *= 2
}

// join makes one point of two that follow each other. A quantile of both is at
// most the greater of theirs, so a stall stays visible.
func join(a, b Point) Point {
	b.Interval += a.Interval
	b.Operations += a.Operations
	b.Heap = max(a.Heap, b.Heap)
	b.Flush, b.Tick = worse(a.Flush, b.Flush), worse(a.Tick, b.Tick)
	return b
}

func worse(a, b Quantiles) Quantiles {
	return Quantiles{P50: max(a.P50, b.P50), P99: max(a.P99, b.P99), P999: max(a.P999, b.P999), Max: max(a.Max, b.Max)}
}
