package results_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result returns a result with the samples, each of 100 bodies.
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

// sample is a run with a bit of everything.
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
	"json.json": (*results.Run).WriteJSON,
	"csv.csv":   (*results.Run).WriteCSV,
}

func written(t *testing.T, r *results.Run, form string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := forms[form](r, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestEveryFormIsAsItWas(t *testing.T) {
	for form := range forms {
		got := written(t, sample(), form)
		file := filepath.Join("testdata", form)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", form, got, want)
		}
	}
}

// TestTheLastColumnIsTheMedianOverTheRounds has medians whose ratio is 2 where the
// rounds say 4, 4 and 0.5, and says so; a result alone has nothing to explain.
func TestTheLastColumnIsTheMedianOverTheRounds(t *testing.T) {
	c := func(impl string) measure.Case { return measure.Case{Op: "get", Impl: impl, N: 10, Size: 8} }
	r := &results.Run{Results: []measure.Result{result(c("a"), 1, 2, 4), result(c("b"), 4, 8, 2)}}
	if rows := r.Rows()[0]; rows[0][5] != "2.00" || rows[1][5] != "4.00" || strings.TrimSpace(rows[1][8]) != "4.00x" {
		t.Errorf("the rows are %q", rows)
	}
	for _, form := range []string{"table.txt", "table.md"} {
		text := string(written(t, r, form))
		if !strings.Contains(text, "\nbeside the first: the median of the ratios of the single rounds,") || !strings.Contains(text, "\n±: ? where there are too few rounds") {
			t.Errorf("%s does not say what its columns are:\n%s", form, text)
		}
		r := &results.Run{Results: []measure.Result{result(c("a"), 1, 2, 4, 5, 6, 7)}}
		if text := string(written(t, r, form)); strings.Contains(text, "beside the first:") || strings.Contains(text, "±:") {
			t.Errorf("%s explains what is not there:\n%s", form, text)
		}
	}
}

// What the Go benchmark data format says, to the letter: a benchmark line begins
// with Benchmark and an upper-case letter, and has fields of an iteration count and
// pairs of value and unit; all else is "key: value" or "Unit", or no line of it, as comments are.
func TestBenchmarkTextFollowsItsFormat(t *testing.T) {
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

func TestOtherFormsParse(t *testing.T) {
	lines, err := csv.NewReader(bytes.NewReader(written(t, sample(), "csv.csv"))).ReadAll()
	if err != nil || len(lines) != 12 {
		t.Errorf("the CSV has %d lines, error %v; want 12", len(lines), err)
	}
	var doc struct {
		Version int
		Cases   []struct {
			Name    string
			Median  float64
			Low     *float64
			Samples []float64
		}
	}
	if err := json.Unmarshal(written(t, sample(), "json.json"), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cases) != 11 || doc.Cases[0].Median != 3.1 || doc.Cases[0].Low == nil || doc.Cases[6].Low != nil {
		t.Errorf("the JSON says %+v", doc)
	}
}

// reread returns what is read of a run that was written.
func reread(t *testing.T, r *results.Run, form string) *results.Run {
	t.Helper()
	got, err := results.Read("file", written(t, r, form))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestWhatWasWrittenIsReadAgain(t *testing.T) {
	for _, form := range []string{"go.txt", "json.json"} {
		for _, partial := range []bool{false, true} {
			want := sample()
			want.Partial = partial
			got := reread(t, want, form)
			if got.Environment != want.Environment || got.Partial != partial {
				t.Errorf("%s: the environment is %+v, partial %v; want %+v", form, got.Environment, got.Partial, want.Environment)
			}
			if len(got.Results) != len(want.Results)-1 { // one has no samples
				t.Fatalf("%s: there are %d results", form, len(got.Results))
			}
			for i, r := range got.Results {
				if w := want.Results[i]; r.Name() != w.Name() || r.Unit != w.Unit || !slices.Equal(r.Samples, w.Samples) {
					t.Errorf("%s: result %d is %+v; want %+v", form, i, r, w)
				}
			}
		}
	}
}

func TestOutputOfSeveralRunsIsOneRun(t *testing.T) {
	once := written(t, sample(), "go.txt")
	r, err := results.Read("file", slices.Concat(once, once))
	if err != nil || len(r.Results[0].Samples) != 12 {
		t.Errorf("it has %d samples, error %v; want 12", len(r.Results[0].Samples), err)
	}
}

func TestOutputOfGoTestIsRead(t *testing.T) {
	const text = `goos: linux
goarch: amd64
pkg: handloom/bench
cpu: A Processor
BenchmarkHandloom/op=get/impl=map/n=1000/size=8-2         	     843	   1401234 ns/op	        14.01 ns/item	       0 B/op	       0 allocs/op
BenchmarkHandloom/op=halves/impl=team-2         	     843	     20123 ns/op
PASS
ok  	handloom/bench	1.2s
`
	r, err := results.Read("file", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	a, b := r.Results[0], r.Results[1]
	if a.Unit != measure.PerItem || a.Samples[0].Value != 14.01 || b.Unit != measure.PerOp || b.Samples[0].Value != 20123 {
		t.Errorf("it is read as %+v", r.Results)
	}
}

func TestMalformedResultsAreRefused(t *testing.T) {
	good := string(written(t, sample(), "json.json"))
	bench := func(line string) string { return "goos: linux\n" + line + "\n" }
	for _, tt := range []struct{ text, want string }{
		{"", "file: there are no results in it"},
		{"goos: linux\n", "file: there are no results in it"},
		{"hello", "file: there are no results in it"},
		{bench("BenchmarkOther/x=1-2 1 2 ns/op"), "file:2: this program has no BenchmarkOther/x=1-2; its names begin with BenchmarkHandloom/"},
		{bench("BenchmarkHandloom/op=get/impl=map-2 1 2"), "file:2: missing units"},
		{bench("BenchmarkHandloom/op=get/impl=map-2 0 2 ns/item"), "file:2: op=get/impl=map: 0 bodies of 2 ns/item are no sample"},
		{bench("BenchmarkHandloom/op=get/impl=map-2 1 NaN ns/item"), "file:2: op=get/impl=map: 1 bodies of NaN ns/item are no sample"},
		{bench("BenchmarkHandloom/op=get/impl=map-2 1 x ns/item"), "file:2: parsing measurement: invalid syntax"},
		{bench("BenchmarkHandloom/op=get/impl=map/n=x-2 1 2 ns/item"), `file:2: in the name "op=get/impl=map/n=x": strconv.Atoi: parsing "x": invalid syntax`},
		{bench("BenchmarkHandloom/impl=map/op=get-2 1 2 ns/item"), `file:2: the name "impl=map/op=get" is not in order; want "op=get/impl=map"`},
		{bench("BenchmarkHandloom/op=get/impl=map/k=1-2 1 2 ns/item"), `file:2: in the name "op=get/impl=map/k=1": "k" is no part of a name`},
		{bench("BenchmarkHandloom/op=get-2 1 2 ns/item\nBenchmarkHandloom/op=get-2 1 2 B/item"), `file:2: the name "op=get" is not in order; want "op=get/impl="`},
		{bench("BenchmarkHandloom/op=get/impl=a-2 1 2 ns/item\nBenchmarkHandloom/op=get/impl=a-2 1 2 B/item"), "file:3: the samples of op=get/impl=a are in ns/item and B/item"},
		{"# environment: {\n", "file:1: unexpected end of JSON input"},
		{"{}", "file: version 0 of the results is not known here; want 1"},
		{"{\n\n\"version\": }", "file:3: invalid character '}' looking for beginning of value"},
		{"{\n\"version\": \"1\"}", "file:2: json: cannot unmarshal string into Go struct field document.version of type int"},
		{good[:len(good)/2], "unexpected end of JSON input"},
		{`{"version":1,"cases":[]}`, "file: there are no results in it"},
		{`{"version":1,"cases":[{"name":"op=a/impl=b","op":"a","impl":"c"}]}`, `file: case "op=a/impl=b" has the parts of "op=a/impl=c"`},
		{`{"version":1,"cases":[{"name":"op=a/impl=b","op":"a","impl":"b"}]}`, `file: case "op=a/impl=b" has 0 samples and 0 counts of bodies`},
	} {
		_, err := results.Read("file", []byte(tt.text))
		if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("of %q the error is\n  %v; want\n  %s", tt.text, err, tt.want)
		}
	}
}

func TestRatiosAreOfTheSameRound(t *testing.T) {
	// The machine was twice as slow from the fourth round on.
	a := result(measure.Case{Op: "get", Impl: "a"}, 10, 10, 10, 20, 20, 20)
	b := result(measure.Case{Op: "get", Impl: "b"}, 5, 5, 5, 10, 10, 10, 99)
	r := results.RatioOf(&a, &b)
	if r.Median != 2 || r.Low != 2 || r.High != 2 || r.Apart {
		t.Errorf("the ratio is %+v; want exactly 2, and no claim, for the intervals overlap", r)
	}
}

func TestAResultIsSetBesideTheFirstWithAsManyWorkers(t *testing.T) {
	of := func(impl string, workers int) *measure.Result {
		return &measure.Result{Case: measure.Case{Op: "mixed", Impl: impl, Workers: workers}}
	}
	table1, sync1, table2, sync2 := of("table", 1), of("syncmap", 1), of("table", 2), of("syncmap", 2)
	group := []*measure.Result{table1, sync1, table2, sync2}
	for r, want := range map[*measure.Result]*measure.Result{table1: nil, sync1: table1, table2: table1, sync2: table2} {
		if got := results.Reference(group, r); got != want {
			t.Errorf("%s is set beside %v; want %v", r.Name(), got, want)
		}
	}
}

func TestTheEnvironmentIsThatOfThisProcess(t *testing.T) {
	e := results.Here()
	if e.Go == "" || e.CPU == "" || e.CPUs < 1 || e.GOMAXPROCS < 1 || e.GOGC == "" || e.Revision == "" || len(e.Date) != len("2026-01-02T03:04Z") {
		t.Errorf("the environment is %+v", e)
	}
}
