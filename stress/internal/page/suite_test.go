package page

import (
	"math"
	"testing"
	"time"

	"handloom/stress/internal/feed"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start is what the runs of these tests begin with.
func start() feed.Start {
	return feed.Start{
		Title: "scenario test: three tables & a <limit>", Command: "go run ./stress -scenario 'a b.json' -seed 1", Unit: "commands",
		Details: []feed.Fact{{Name: "seed", Value: "1"}, {Name: "workers", Value: "GOMAXPROCS"}},
		MaxP99:  16 * time.Millisecond, MaxHeap: 512 << 20, Go: "go1.26.0", Platform: "linux/amd64", GOMAXPROCS: 2,
	}
}

// sample returns the i-th sample of a run.
func sample(i int) *feed.Sample {
	wave := 1 + 0.3*math.Sin(float64(i)/4)
	at := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * wave).Truncate(time.Microsecond)
	}
	s := &feed.Sample{
		Interval: 250 * time.Millisecond, Ticks: 15 * (i + 1), Operations: 200_000 + 1000*(i%17), Live: 101_000 + 500*(i%13),
		Flush: feed.Quantiles{P50: at(700 * time.Microsecond), P99: at(2 * time.Millisecond), P999: at(3 * time.Millisecond), Max: at(4 * time.Millisecond)},
		Tick:  feed.Quantiles{P50: at(4 * time.Millisecond), P99: at(9 * time.Millisecond), P999: at(12 * time.Millisecond), Max: at(30 * time.Millisecond)},
		Heap:  int64(30+i%7) << 20, Goroutines: 5, Verdict: "running",
	}
	for shard := range 8 {
		s.Shards = append(s.Shards, feed.Shard{Table: "bullet", Index: shard, Live: 12_000 + 10*shard + i%13})
	}
	for shard := range 2 {
		s.Shards = append(s.Shards, feed.Shard{Table: "a table with a long name, of forty bytes", Index: shard, Live: 300 + (50+i)*shard})
	}
	s.Shards = append(s.Shards, feed.Shard{Table: "ship", Live: 200})
	return s
}

// follow gives a sink a run of n samples.
func follow(s feed.Sink, n int) {
	begun := start()
	s.Event(feed.Event{Kind: feed.KindStart, Start: &begun})
	s.Event(feed.Event{Kind: feed.KindProgress, Progress: &feed.Progress{Text: "a line of <progress>"}})
	for i := range n {
		s.Event(feed.Event{Kind: feed.KindSample, Elapsed: time.Duration(i+1) * 250 * time.Millisecond, Sample: sample(i)})
	}
}

var (
	failure = feed.Failure{What: "tick 7: digest & <model> differ", Replay: "go run ./stress -program x", Detail: "line 1\nline 2"}
	passing = feed.Verdict{
		Verdict: "passed", Reason: "ticks 600, late 0, p99 9.00 ms",
		Totals: []feed.Fact{{Name: "ticks", Value: "600 in 10.0 s, 0 late"}, {Name: "digest", Value: "0123456789abcdef after tick 600"}},
	}
)
