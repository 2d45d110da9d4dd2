package results_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

func result(c measure.Case, samples ...float64) measure.Result {
	r := measure.Result{Case: c}
	if r.Unit == "" {
		r.Unit = measure.PerItem
	}
	for _, v := range samples {
		r.Samples = append(r.Samples, measure.Sample{Value: v, Bodies: 100})
	}
	return r
}

func sample() *results.Run {
	get := func(impl string) measure.Case { return measure.Case{Op: "get", Impl: impl, N: 100_000, Size: 8} }
	flush := func(impl string, workers int) measure.Case {
		return measure.Case{Op: "flush", Impl: impl, N: 1_000_000, Size: 64, Workers: workers}
	}
	return &results.Run{
		Command: "go run ./bench -run 'get|flush'",
		Environment: results.Environment{
			Go: "go1.26.0", GOOS: "linux", GOARCH: "amd64", CPU: "A Processor", CPUs: 2, GOMAXPROCS: 2, GOGC: "100",
			Revision: "0123456789ab+", Date: "2026-01-02T03:04Z", Seed: 7, Rounds: 6, BenchTime: "5ms",
		},
		Results: []measure.Result{
			result(get("handlemap"), 3.1, 3.0, 3.2, 3.1, 3.0, 3.3),
			result(get("straight"), 3.1, 3.1, 3.2, 3.2, 3.0, 3.1),
			result(get("map"), 14, 13, 15, 14, 14, 13),
			result(get("pointers"), 1.5, 1.5, 1.6, 1.5, 1.4, 1.5),
			result(flush("table", 1), 20, 21, 20, 20, 22, 20),
			result(flush("table", 2), 11, 11, 12, 11, 11, 10),
			result(flush("handlemap", 1), 15, 15),
			result(measure.Case{Op: "replay", Impl: "table", Size: 32, Workers: 1, Unit: measure.PerSecond}, 1.1e7, 1.2e7, 1.1e7, 1.2e7, 1.1e7, 1.1e7),
			result(measure.Case{Op: "replay", Impl: "map", Size: 32, Workers: 1, Unit: measure.PerSecond}, 2.2e7, 2.1e7, 2.2e7, 2.3e7, 2.2e7, 2.2e7),
			result(measure.Case{Op: "memory", Impl: "handlemap", N: 1000, Size: 8, Unit: "B/item"}, 12, 12, 12, 12, 12, 12),
			result(measure.Case{Op: "memory", Impl: "map", N: 1000, Size: 8, Unit: "B/item"}, 18, 18, 18, 18, 18, 18),
			result(measure.Case{Op: "never", Impl: "measured"}),
		},
	}
}

var forms = map[string]func(*results.Run, io.Writer) error{
	"table.txt": (*results.Run).WriteTable,
	"table.md":  (*results.Run).WriteMarkdown,
	"go.txt":    (*results.Run).WriteGo,
}

func written(t *testing.T, r *results.Run, form string) []byte {
	t.Helper()
	var b bytes.Buffer
	noError(t, forms[form](r, &b))
	return b.Bytes()
}

func TestForms_MatchGoldenFiles(t *testing.T) {
	for form := range forms {
		got := written(t, sample(), form)
		file := filepath.Join("testdata", form)
		if *update {
			noError(t, os.WriteFile(file, got, 0o644))
		}
		want, err := os.ReadFile(file)
		noError(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", form, got, want)
		}
	}
}

// The ratio of the medians is 2, but the ratios of the rounds are 4, 4 and 0.5.
// One result alone has no ratio.
func TestTable_LastColumnIsTheMedianOfRatios(t *testing.T) {
	c := func(impl string) measure.Case { return measure.Case{Op: "get", Impl: impl, N: 10, Size: 8} }
	r := &results.Run{Results: []measure.Result{result(c("a"), 1, 2, 4), result(c("b"), 4, 8, 2)}}
	if rows := r.Rows()[0]; rows[0][5] != "2.00" || rows[1][5] != "4.00" || strings.TrimSpace(rows[1][8]) != "4.00x" {
		t.Errorf("the rows are %q", rows)
	}
	for _, form := range []string{"table.txt", "table.md"} {
		text := string(written(t, r, form))
		if !strings.Contains(text, "\nvs first: the median of the ratios of the single rounds,") || !strings.Contains(text, "\n±: ? where there are too few rounds") {
			t.Errorf("%s does not say what its columns are:\n%s", form, text)
		}
		r := &results.Run{Results: []measure.Result{result(c("a"), 1, 2, 4, 5, 6, 7)}}
		if text := string(written(t, r, form)); strings.Contains(text, "vs first:") || strings.Contains(text, "±:") {
			t.Errorf("%s explains what is not there:\n%s", form, text)
		}
	}
}

// A benchmark line begins with Benchmark and an upper-case letter, then has an
// iteration count and pairs of value and unit. Other lines are "key: value",
// "Unit" or comments.
func TestWriteGo_FollowsTheFormat(t *testing.T) {
	line := regexp.MustCompile(`^Benchmark[A-Z]\S*( \d+)( \S+ \S+)+$`)
	config := regexp.MustCompile(`^[a-z][^\sA-Z]*: \S.*$`)
	unit := regexp.MustCompile(`^Unit \S+ [a-z]+=\S+$`)
	keys := regexp.MustCompile(`^Benchmark\w+(/[a-z]+=[^/]+)+-\d+$`)
	samples := 0
	for text := range strings.Lines(string(written(t, sample(), "go.txt"))) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case line.MatchString(text):
			samples++
			if name, _, _ := strings.Cut(text, " "); !keys.MatchString(name) {
				t.Errorf("the name %q has parts that benchstat cannot split by", name)
			}
		case text != "" && !strings.HasPrefix(text, "# ") && !config.MatchString(text) && !unit.MatchString(text):
			t.Errorf("%q is no line of benchmark text", text)
		}
	}
	if text := string(written(t, sample(), "go.txt")); regexp.MustCompile(`(?m)^(date|revision|seed|go): `).MatchString(text) {
		t.Errorf("benchstat would not compare runs that differ in what stands in\n%s", text)
	}
	if samples != 62 {
		t.Errorf("there are %d samples; want 62", samples)
	}
}

func TestRatio_UsesTheSameRounds(t *testing.T) {
	// The machine was twice as slow from the fourth round on.
	a := result(measure.Case{Op: "get", Impl: "a"}, 10, 10, 10, 20, 20, 20)
	b := result(measure.Case{Op: "get", Impl: "b"}, 5, 5, 5, 10, 10, 10, 99)
	r := results.RatioOf(&a, &b)
	if r.Median != 2 || r.Low != 2 || r.High != 2 || r.Apart {
		t.Errorf("the ratio is %+v; want exactly 2, and no claim, for the intervals overlap", r)
	}
}

func TestReference_IsTheFirstWithAsManyWorkers(t *testing.T) {
	find := func(impl string, workers int) *measure.Result {
		return &measure.Result{Case: measure.Case{Op: "mixed", Impl: impl, Workers: workers}}
	}
	table1, sync1, table2, sync2 := find("table", 1), find("syncmap", 1), find("table", 2), find("syncmap", 2)
	group := []*measure.Result{table1, sync1, table2, sync2}
	for r, want := range map[*measure.Result]*measure.Result{table1: nil, sync1: table1, table2: table1, sync2: table2} {
		if got := results.Reference(group, r); got != want {
			t.Errorf("%s is set beside %v; want %v", r.Name(), got, want)
		}
	}
}

func TestHere_DescribesThisProcess(t *testing.T) {
	e := results.Here()
	if e.Go == "" || e.CPU == "" || e.CPUs < 1 || e.GOMAXPROCS < 1 || e.GOGC == "" || e.Revision == "" || len(e.Date) != len("2026-01-02T03:04Z") {
		t.Errorf("the environment is %+v", e)
	}
}
