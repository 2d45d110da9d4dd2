package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"handloom/internal/histogram"
	"handloom/internal/report"
	"handloom/store"
	"handloom/stress/internal/feed"
)

// Exit codes of a run.
const (
	ExitPassed      = 0
	ExitFailed      = 2
	ExitInvariant   = 11
	ExitLimit       = 16
	ExitInterrupted = 130
)

var errInvariant = errors.New("an invariant is broken")

// Result is what a run came to.
type Result struct {
	Scenario *Scenario
	Options  Options

	Ticks, Late int
	Elapsed     time.Duration
	Tick, Flush histogram.Histogram
	Reads       histogram.Histogram
	Counts      store.Counts
	Tables      []store.TableStats
	Heap        int64 // the most that was seen
	Collections int
	Stops       int // of the program, by the collector
	StopP99     time.Duration
	StopMax     time.Duration
	Digest      uint64 // 0: not taken
	Verdict     feed.Verdict
}

// judge makes the verdict of a run that ended with err.
func (r *Result) judge(err error) *Result {
	v := feed.Verdict{Verdict: "passed", ExitCode: ExitPassed}
	if r.Late > 0 {
		v.Verdict = feed.Late // and nothing wrong: what is too late, -max-p99 says
	}
	ticks := r.ticks()
	if r.cut() {
		ticks += " within " + report.Duration(r.Options.Duration)
	}
	v.Reason = fmt.Sprintf("ticks %s, late %s, p99 %s", ticks, report.Count(r.Late), report.Duration(r.Tick.Quantile(0.99)))
	switch {
	case errors.Is(err, errInvariant):
		v.Verdict, v.ExitCode, v.Reason = "invariant", ExitInvariant, err.Error()
	case errors.Is(err, errLimit), errors.Is(err, store.ErrFull), errors.Is(err, store.ErrQueueFull):
		v.Verdict, v.ExitCode, v.Reason = "limit", ExitLimit, err.Error()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		v.Verdict, v.ExitCode = "interrupted", ExitInterrupted
	case err != nil:
		v.Verdict, v.ExitCode, v.Reason = "failed", ExitFailed, err.Error()
	}
	v.Totals = r.facts()
	r.Verdict = v
	return r
}

// cut reports whether the time of the run was over before its ticks were played.
func (r *Result) cut() bool {
	return r.Options.Duration > 0 && r.Elapsed >= r.Options.Duration && r.Ticks < r.Scenario.Ticks
}

// ticks says how many there were, and of how many if not of all.
func (r *Result) ticks() string {
	if r.cut() {
		return report.Count(r.Ticks) + " of " + report.Count(r.Scenario.Ticks)
	}
	return report.Count(r.Ticks)
}

// facts returns the figures for people.
func (r *Result) facts() []feed.Fact {
	var all []feed.Fact
	add := func(name, format string, args ...any) {
		all = append(all, feed.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	times := func(h *histogram.Histogram) string {
		return fmt.Sprintf("p50 %s, p99 %s, p99.9 %s, max %s", report.Duration(h.Quantile(0.5)),
			report.Duration(h.Quantile(0.99)), report.Duration(h.Quantile(0.999)), report.Duration(h.Max()))
	}
	add("ticks", "%s in %s, %s late", r.ticks(), report.Duration(r.Elapsed), report.Count(r.Late))
	add("tick time", "%s", times(&r.Tick))
	add("flush time", "%s", times(&r.Flush))
	if r.Scenario.Readers > 0 {
		add("read time", "%s", times(&r.Reads))
	}
	add("commands", "%s, %s", report.Count(r.Counts.Commands()), report.Rate(r.Counts.Commands(), r.Elapsed))
	add("became of them", "%s", report.Grouped(r.Counts.String()))
	live, slots, bytes := 0, 0, int64(0)
	for _, t := range r.Tables {
		live, slots, bytes = live+t.Live, slots+t.Slots, bytes+t.Bytes
	}
	add("items", "%s in %s slots, %s", report.Count(live), report.Count(slots), report.Bytes(bytes))
	add("heap", "%s at most", report.Bytes(r.Heap))
	add("collector", "%s runs, %s stops: p99 %s, max %s", report.Count(r.Collections), report.Count(r.Stops), report.Duration(r.StopP99), report.Duration(r.StopMax))
	if r.Digest != 0 {
		add("digest", "%016x after tick %s", r.Digest, report.Count(r.Ticks))
	}
	return all
}

// WriteTo prints the tables and the figures.
func (r *Result) WriteTo(w io.Writer) (int64, error) {
	t := report.NewTable("table", "bytes", "shards", "items", "slots", "depleted", "memory")
	for i, s := range r.Tables {
		t.Row(s.Name, strconv.Itoa(r.Scenario.Tables[i].Bytes), strconv.Itoa(s.Shards), report.Count(s.Live),
			report.Count(s.Slots), report.Count(s.Depleted), report.Bytes(s.Bytes))
	}
	n, err := t.WriteTo(w)
	for _, f := range append([]feed.Fact{{}}, r.Verdict.Totals...) {
		if err != nil {
			return n, err
		}
		var more int
		more, err = fmt.Fprintln(w, row(f))
		n += int64(more)
	}
	return n, err
}

func row(f feed.Fact) string {
	if f.Name == "" {
		return ""
	}
	return fmt.Sprintf("%-16s%s", f.Name, f.Value)
}
