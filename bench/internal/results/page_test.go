package results_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
	"handloom/bench/internal/suite"
	"handloom/bench/internal/targets"
)

var charts = []string{
	"Containers: time per item",
	"Ordering and bulk operations: time per item",
	"Mixed load on 8 tasks: time per operation",
	"A full collection while the items live",
	"Memory beyond the item, after growth",
}

func pageRun() *results.Run {
	r := &results.Run{
		Command: "go run ./bench -html '<report>.html'",
		Environment: results.Environment{
			Go: "go1.26.0", GOOS: "linux", GOARCH: "amd64", CPU: "A Processor With a Long Name @ 2.00GHz", CPUs: 8, GOMAXPROCS: 8,
			GOGC: "100", Revision: "0123456789ab+", Date: "2026-01-02T03:04Z", Seed: 1, Rounds: 6, BenchTime: "5ms",
		},
	}
	o := suite.Options{Workers: []int{1, 2, 4, 8}}
	for _, c := range o.Headline() {
		result := measure.Result{Case: c}
		value := float64(5+7*len(c.Impl)) * math.Pow(float64(max(c.N, 10)), 0.1) / float64(max(c.Workers, 1))
		if c.Unit.HigherIsBetter() {
			value = 1e7 * float64(c.Workers)
		}
		for i := range 6 {
			result.Samples = append(result.Samples, measure.Sample{Value: value * (1 + 0.01*float64(i)), Bodies: 10})
		}
		r.Results = append(r.Results, result)
	}
	return r
}

var reached = []targets.Target{
	{ID: "P1", Work: "InsertItems, warm: of the bulk loop by hand", N: 100_000, Size: 8, Value: measure.Summary{Median: 1.03, Low: 1.02, High: 1.04}, Limit: 1.15, Met: true, Promise: true},
	{ID: "P17", Work: "longest insert, growing to 10M: the packed map's, of the stable map's", N: 10_000_000, Size: 8, Value: measure.Summary{Median: 321, Low: 300, High: 340}, Limit: 500, Higher: true, Promise: true},
}

func writtenPage(t *testing.T, r *results.Run, reached []targets.Target) string {
	t.Helper()
	var b bytes.Buffer
	noError(t, r.WritePage(&b, reached))
	return b.String()
}

func TestWritePage_NeedsNoOtherFile(t *testing.T) {
	text := strings.ReplaceAll(writtenPage(t, pageRun(), reached), `href="#`, "") // links within the page
	for _, bad := range []string{"<script", "src=", "href=", "@import", "url(", "<report>"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, title := range charts {
		if !strings.Contains(text, "<title>"+title) {
			t.Errorf("the page has no chart %q", title)
		}
	}
}

func TestWritePage_DropsChartsWithoutValues(t *testing.T) {
	r := pageRun()
	var some []measure.Result
	for _, result := range r.Results {
		if result.Op == "mixed" {
			some = append(some, result)
		}
	}
	r.Results, r.Partial = some, true
	text := writtenPage(t, r, nil)
	for i, title := range charts {
		if has := strings.Contains(text, "<title>"+title); has != (i == 2) {
			t.Errorf("the chart %q is there: %v", title, has)
		}
	}
	if !strings.Contains(text, "Partial: the run was interrupted") {
		t.Error("the page does not say that the run was interrupted")
	}
	if strings.Contains(writtenPage(t, &results.Run{}, nil), "<svg") {
		t.Error("a run without results has a chart")
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
