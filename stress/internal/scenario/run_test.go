package scenario

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/stress/internal/feed"
)

// stalling is a sink that blocks the run once, for so long.
type stalling struct {
	feed.Collector
	stall time.Duration
}

func (s *stalling) Event(e feed.Event) {
	s.Collector.Event(e)
	if e.Kind == feed.KindSample {
		time.Sleep(s.stall)
		s.stall = 0
	}
}

// TestAStallIsNotHidden blocks a run at 100 ticks per second for 205 ms, when its
// first 26 ticks have been played and sampled. Virtual time passes in waits only,
// so ticks take none: the ticks that were due meanwhile begin at once, each with
// the wait it had in its time, and none is left out.
func TestAStallIsNotHidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &stalling{stall: 205 * time.Millisecond}
		s := small()
		s.Hz, s.Ticks, s.Readers = 100, 100, 0
		begun := time.Now()
		r := passed(t, s, Options{Workers: 2, Feed: feed.New(sink)})
		if took := time.Since(begun); took != 990*time.Millisecond {
			t.Errorf("100 ticks took %v; the last is due after 990 ms", took)
		}
		// Sampled at 250 ms, when tick 25 was due; ticks 26 to 45 were due by 455 ms.
		if want := 195 * time.Millisecond; r.Tick.Max() != want || r.Tick.Len() != 100 {
			t.Errorf("the longest of %d tick times is %v; want %v of 100", r.Tick.Len(), r.Tick.Max(), want)
		}
		if want := 19; r.Late != want {
			t.Errorf("%d ticks were late; want %d", r.Late, want)
		}
		var sum time.Duration
		for wait := 195; wait > 0; wait -= 10 {
			sum += time.Duration(wait) * time.Millisecond
		}
		if r.Tick.Sum() != sum {
			t.Errorf("all tick times are %v together; want %v", r.Tick.Sum(), sum)
		}
	})
}

// TestARunEndsWhenItsTimeIsOver has 100 ticks due in one second, and stalls for
// three when the first 26 of them are played: one more begins, is late, and is the
// last.
func TestARunEndsWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &stalling{stall: 3 * time.Second}
		s := small()
		s.Hz, s.Ticks, s.Readers = 100, 100, 0
		r := s.Run(t.Context(), Options{Duration: time.Second, Feed: feed.New(sink)})
		if r.Ticks != 27 || r.Late != 1 || r.Elapsed != 3250*time.Millisecond {
			t.Errorf("%d ticks, %d late, in %v; want 27, 1 and 3.25 s", r.Ticks, r.Late, r.Elapsed)
		}
		if v := r.Verdict; v.Verdict != feed.Late || v.ExitCode != ExitPassed || v.Reason != "ticks 27 of 100 within 1.00 s, late 1, p99 2.99 s" {
			t.Errorf("the verdict is %+v", v)
		}
		if v := r.Verdict.Totals[0].Value; v != "27 of 100 in 3.25 s, 1 late" {
			t.Errorf("the totals say of ticks: %s", v)
		}
		if last := sink.Points[len(sink.Points)-1]; last.Ticks != 27 || last.Late != 1 || last.Sample.Verdict != feed.Late {
			t.Errorf("the last sample is %+v", last.Sample)
		}
	})
}

// A machine that keeps up plays every tick that its time has.
func TestARunInTimeHasAllItsTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := small()
		s.Hz, s.Ticks, s.Readers = 100, 100, 0
		r := passed(t, s, Options{Duration: time.Second})
		if v := r.Verdict; v.Verdict != "passed" || v.Reason != "ticks 100, late 0, p99 0 ns" {
			t.Errorf("the verdict is %+v", v)
		}
	})
}

func TestWithoutARateATickIsDueWhenTheOneBeforeHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := small()
		s.Readers = 0
		if r := passed(t, s, Options{}); r.Late != 0 || r.Tick.Max() != 0 || r.Elapsed != 0 {
			t.Errorf("late %d, longest %v, %v together", r.Late, r.Tick.Max(), r.Elapsed)
		}
	})
}

func TestSamplesAddUpToTheRun(t *testing.T) {
	var c feed.Collector
	s := small()
	s.Hz, s.Ticks = 200, 150 // 0.75 s
	r := passed(t, s, Options{Feed: feed.New(&c)})
	operations := 0
	for _, p := range c.Points {
		operations += p.Operations
		if p.Flush.Max <= 0 || p.Tick.P50 > p.Tick.P99 || p.Tick.P99 > p.Tick.Max || p.Heap <= 0 || p.Goroutines < 3 || p.Interval <= 0 {
			t.Errorf("a sample is %+v", p)
		}
	}
	last := c.Points[len(c.Points)-1]
	if operations != r.Counts.Commands() || last.Ticks != 150 || r.Flush.Len() != 150 || len(c.Points) < 2 {
		t.Errorf("%d samples of %d operations, the last at tick %d, %d flushes; want %d operations", len(c.Points), operations, last.Ticks, r.Flush.Len(), r.Counts.Commands())
	}
	live := 0
	for _, table := range r.Tables {
		live += table.Live
	}
	if last.Live != live || len(c.Shards) != 8 || r.Reads.Len() == 0 {
		t.Errorf("the last sample has %d items in %d shards, the store %d; %d reads", last.Live, len(c.Shards), live, r.Reads.Len())
	}
}

func TestLimitsFailARun(t *testing.T) {
	tests := []struct {
		o    Options
		want string
	}{
		{Options{MaxHeap: 1000}, "limit: .* of heap objects exceed -max-heap, 1000 B"},
		{Options{MaxP99: 1}, "limit: the p99 of the tick time, .*, exceeds -max-p99, 1 ns"},
	}
	for _, tt := range tests {
		s := small()
		r := s.Run(t.Context(), tt.o)
		before, after, _ := strings.Cut(tt.want, ".*")
		if v := r.Verdict; v.Verdict != "limit" || v.ExitCode != ExitLimit || !strings.HasPrefix(v.Reason, before) || !strings.HasSuffix(v.Reason, after) {
			t.Errorf("%+v: %+v; want %s", tt.o, v, tt.want)
		}
		if r.Ticks == 0 || r.Digest == 0 || len(r.Verdict.Totals) == 0 {
			t.Errorf("%+v: ticks %d, digest %x", tt.o, r.Ticks, r.Digest)
		}
	}
	passed(t, small(), Options{MaxHeap: 1 << 40, MaxP99: time.Hour})
}

// atSample is a sink that calls itself at every sample.
type atSample func()

func (f atSample) Event(e feed.Event) {
	if e.Kind == feed.KindSample {
		f()
	}
}

func (atSample) Close() error { return nil }

func TestAnInterruptKeepsWhatWasMeasured(t *testing.T) {
	for _, hz := range []int{0, 50} {
		ctx, cancel := context.WithCancel(t.Context())
		s := small()
		s.Hz, s.Ticks = hz, MaxTicks
		soon := func() { time.AfterFunc(30*time.Millisecond, cancel) } // some ticks after a sample
		r := s.Run(ctx, Options{Feed: feed.New(atSample(soon))})
		if r.Verdict.ExitCode != ExitInterrupted || r.Ticks == 0 || r.Digest == 0 || r.Flush.Len() != r.Ticks || !strings.Contains(r.Verdict.Reason, "ticks ") {
			t.Errorf("%+v after %d ticks and %d flushes", r.Verdict, r.Ticks, r.Flush.Len())
		}
	}
}

func TestTheTableNamesEverything(t *testing.T) {
	var b strings.Builder
	r := passed(t, small(), Options{})
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"table  bytes  shards  items  slots  depleted", "\nticks           40 in ", "\ntick time       p50 ", ", p99.9 ", ", max ",
		"\nflush time ", "\nread time ", "\ncommands ", "/s\n", "\nitems ", "\nheap ", "\ncollector ", " created ", "\ndigest          ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
}

func TestTheCollectorIsCounted(t *testing.T) {
	m := newMemory()
	for range 3 {
		runtime.GC()
	}
	runs, stops, p99, longest := m.pauses()
	if runs < 3 || stops < 3 || p99 <= 0 || p99 > longest || m.read() <= 0 {
		t.Errorf("%d runs, %d stops, p99 %v, longest %v", runs, stops, p99, longest)
	}
}
