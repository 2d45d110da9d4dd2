package feed

import (
	"strconv"
	"testing"
	"time"
)

// TestPointsAreBoundedAndLoseNoSum gives far more samples than there may be
// points: sums are kept, no stall is lost, and time stays in order.
func TestPointsAreBoundedAndLoseNoSum(t *testing.T) {
	for _, n := range []int{0, 1, maxPoints, maxPoints + 1, 2*maxPoints + 1, 12345} {
		var c Collector
		stall := 0
		for i := range n {
			s := Sample{Interval: time.Second, Operations: i, Heap: int64(i % 100), Ticks: i}
			if i%997 == 500 {
				s.Flush.Max = time.Duration(i)
				stall = i
			}
			c.Event(Event{Kind: KindSample, Elapsed: time.Duration(i+1) * time.Second, Sample: &s})
		}
		if len(c.Points) > maxPoints || n > maxPoints && len(c.Points) < maxPoints/2 {
			t.Fatalf("%d samples are %d points", n, len(c.Points))
		}
		var operations int
		var interval, at, longest time.Duration
		for i, p := range c.Points {
			if p.Interval != c.Points[0].Interval && i < len(c.Points)-1 {
				t.Fatalf("%d samples: point %d is of %v, the first of %v", n, i, p.Interval, c.Points[0].Interval)
			}
			operations += p.Operations
			interval += p.Interval
			longest = max(longest, p.Flush.Max)
			if p.At <= at || p.At != interval {
				t.Fatalf("%d samples: a point at %v after one at %v, with %v of intervals", n, p.At, at, interval)
			}
			at = p.At
		}
		if operations != n*(n-1)/2 || interval != time.Duration(n)*time.Second || longest != time.Duration(stall) {
			t.Errorf("%d samples: %d operations, %v, longest %d", n, operations, interval, longest)
		}
		if n > 0 && c.Points[len(c.Points)-1].Ticks != n-1 {
			t.Errorf("%d samples: the last point is of tick %d", n, c.Points[len(c.Points)-1].Ticks)
		}
	}
}

func TestShardsBecomeLoadsOfTables(t *testing.T) {
	var c Collector
	for range 2 {
		c.Event(Event{Kind: KindSample, Sample: &Sample{Shards: []Shard{{"a", 0, 5}, {"a", 1, 2}, {"a", 2, 9}, {"b", 0, 4}}}})
	}
	want := []Load{{"a", 3, 16, 9, 2}, {"b", 1, 4, 4, 4}}
	for _, p := range c.Points {
		if len(p.Loads) != 2 || p.Loads[0] != want[0] || p.Loads[1] != want[1] || p.Shards != nil {
			t.Errorf("a point holds %+v; want %+v", p, want)
		}
	}
	if len(c.Shards) != 4 || c.Shards[2].Live != 9 {
		t.Errorf("the last shards are %+v", c.Shards)
	}
}

func TestFailuresAreBoundedAndCounted(t *testing.T) {
	var c Collector
	for range maxFailures + 10 {
		c.Event(Event{Kind: KindFailure, Failure: &Failure{What: "x"}})
	}
	if len(c.Failures) != maxFailures || c.Failed != maxFailures+10 {
		t.Errorf("%d failures are kept of %d", len(c.Failures), c.Failed)
	}
}

func TestTheLastLinesOfProgressAreKept(t *testing.T) {
	var c Collector
	for i := range maxProgress + 5 {
		c.Event(Event{Kind: KindProgress, Progress: &Progress{Text: strconv.Itoa(i)}})
	}
	if len(c.Progress) != maxProgress || c.Progress[0] != "5" || c.Progress[maxProgress-1] != "24" {
		t.Errorf("it keeps %q", c.Progress)
	}
}

func TestACloneStaysAsItIs(t *testing.T) {
	var c Collector
	add := func(operations int) {
		c.Event(Event{Kind: KindSample, Sample: &Sample{Operations: operations}})
	}
	for range maxPoints {
		add(1)
	}
	clone := c.Clone()
	for range maxPoints {
		add(5)
	}
	for i, p := range clone.Points {
		if p.Operations != 1 {
			t.Fatalf("point %d of the clone has %d operations", i, p.Operations)
		}
	}
}
