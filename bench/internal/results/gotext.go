package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"handloom/bench/internal/measure"
)

// benchmark is what the names of results begin with in benchmark text. They are
// those that go test -bench prints.
const benchmark = "BenchmarkHandloom/"

// settings are the keys of what benchstat is to tell runs apart by. Those that
// differ from run to run are hidden from it, or it would compare nothing.
var settings = []string{"goos", "goarch", "cpu"}

const comment = "# "

// WriteGo writes the run as benchmark text, which benchstat reads: a line for
// each sample, so that benchstat does the statistics.
func (r *Run) WriteGo(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintln(out, "pkg: handloom/bench")
	for _, f := range r.Environment.fields() {
		if !slices.Contains(settings, f[0]) {
			f[0] = comment + f[0]
		}
		fmt.Fprintf(out, "%s: %s\n", f[0], f[1])
	}
	if r.Partial {
		fmt.Fprintln(out, comment+"partial: true")
	}
	fmt.Fprintf(out, "Unit %s better=higher\n", measure.PerSecond)
	for i := range r.Results {
		result := &r.Results[i]
		for _, s := range result.Samples {
			fmt.Fprintf(out, "%s%s-%d\t%d\t%s %s\n", benchmark, result.Name(), r.Environment.GOMAXPROCS,
				s.Bodies, strconv.FormatFloat(s.Value, 'g', 6, 64), result.Unit)
		}
	}
	return out.Flush()
}

// readGo reads what WriteGo has written, alone or several times in a row: then
// the samples of a case are put together. It also reads what go test -bench has
// printed of the same cases.
func readGo(data []byte) (*Run, error) {
	run, index := new(Run), make(map[string]int)
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if err := run.readLine(strings.TrimRight(string(text), "\r\n"), index); err != nil {
			return nil, &lineError{line, err}
		}
	}
	return run, nil
}

func (r *Run) readLine(line string, index map[string]int) error {
	if !strings.HasPrefix(line, "Benchmark") {
		return r.readOther(line)
	}
	name, unit, s, err := parseLine(line)
	if err != nil {
		return err
	}
	at, ok := index[name]
	if !ok {
		c, err := parseName(name)
		if err != nil {
			return err
		}
		c.Unit = unit
		at = len(r.Results)
		index[name] = at
		r.Results = append(r.Results, measure.Result{Case: c})
	}
	if r.Results[at].Unit != unit {
		return fmt.Errorf("the samples of %s are in %s and %s", name, r.Results[at].Unit, unit)
	}
	r.Results[at].Samples = append(r.Results[at].Samples, s)
	return nil
}

// parseLine takes a line of a sample apart.
func parseLine(line string) (name string, unit measure.Unit, s measure.Sample, err error) {
	fields := strings.Fields(line)
	name, ok := strings.CutPrefix(fields[0], benchmark)
	if !ok {
		return "", "", s, fmt.Errorf("%s is no benchmark of this program; its names begin with %s", fields[0], benchmark)
	}
	if dash := strings.LastIndexByte(name, '-'); dash >= 0 && isNumber(name[dash+1:]) {
		name = name[:dash]
	}
	if len(fields) < 4 || len(fields)%2 != 0 {
		return "", "", s, errors.New("want a name, a number of bodies, and values each with its unit")
	}
	if s.Bodies, err = strconv.Atoi(fields[1]); err != nil || s.Bodies < 1 {
		return "", "", s, fmt.Errorf("%q is no number of bodies", fields[1])
	}
	// go test prints its own ns/op before what a benchmark reports.
	value, unit := fields[len(fields)-2], measure.Unit(fields[len(fields)-1])
	for i := 2; i < len(fields); i += 2 {
		if u := measure.Unit(fields[i+1]); u != measure.PerOp && u != "B/op" && u != "allocs/op" {
			value, unit = fields[i], u
			break
		}
	}
	if s.Value, err = strconv.ParseFloat(value, 64); err != nil || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
		return "", "", s, fmt.Errorf("%q is no value", value)
	}
	return name, unit, s, nil
}

// readOther reads a line that is no sample: "key: value", or what go test says.
func (r *Run) readOther(line string) error {
	key, value, ok := strings.Cut(strings.TrimPrefix(line, comment), ": ")
	switch e := &r.Environment; key {
	case "goos":
		e.GOOS = value
	case "goarch":
		e.GOARCH = value
	case "cpu":
		e.CPU = value
	case "go":
		e.Go = value
	case "gogc":
		e.GOGC = value
	case "revision":
		e.Revision = value
	case "date":
		e.Date = value
	case "benchtime":
		e.BenchTime = value
	case "partial":
		r.Partial = value == "true"
	case "cpus", "gomaxprocs", "rounds", "seed":
		return e.readNumber(key, value)
	default:
		if ok || line == "" || strings.HasPrefix(line, "Unit ") || line == "PASS" || strings.HasPrefix(line, "ok ") {
			return nil
		}
		return fmt.Errorf("%q is neither a benchmark nor a setting", shorten(line))
	}
	return nil
}

func (e *Environment) readNumber(key, value string) error {
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return fmt.Errorf("%s is %q, not a number", key, shorten(value))
	}
	switch key {
	case "cpus":
		e.CPUs = int(n)
	case "gomaxprocs":
		e.GOMAXPROCS = int(n)
	case "rounds":
		e.Rounds = int(n)
	case "seed":
		e.Seed = n
	}
	return nil
}

// shorten returns what fits a line with other words.
func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}
