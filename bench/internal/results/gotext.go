package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"handloom/bench/internal/measure"

	"golang.org/x/perf/benchfmt"
)

// benchmark is what the names of results begin with in benchmark text, behind
// the word Benchmark. It is what go test -bench prints, too.
const benchmark = "Handloom/"

// What benchstat is not to tell runs apart by, or it would compare nothing,
// stands in comments.
const (
	environment = "# environment: " // as JSON
	partial     = "# partial: true"
)

// WriteGo writes the run as benchmark text, which benchstat reads: a line for
// each sample, so that benchstat does the statistics.
func (r *Run) WriteGo(w io.Writer) error {
	var out bytes.Buffer
	about, err := json.Marshal(r.Environment)
	fmt.Fprintf(&out, "%s%s\n", environment, about)
	if r.Partial {
		fmt.Fprintln(&out, partial)
	}
	fmt.Fprintf(&out, "Unit %s better=higher\n", measure.PerSecond)
	lines, e := benchfmt.NewWriter(&out), r.Environment
	config := []benchfmt.Config{
		{Key: "pkg", Value: []byte("handloom/bench"), File: true},
		{Key: "goos", Value: []byte(e.GOOS), File: true},
		{Key: "goarch", Value: []byte(e.GOARCH), File: true},
		{Key: "cpu", Value: []byte(e.CPU), File: true},
	}
	for i := range r.Results {
		result := &r.Results[i]
		name := fmt.Sprintf("%s%s-%d", benchmark, result.Name(), e.GOMAXPROCS)
		for _, s := range result.Samples {
			err = errors.Join(err, lines.Write(&benchfmt.Result{
				Config: config, Name: benchfmt.Name(name), Iters: s.Bodies,
				Values: []benchfmt.Value{{Value: s.Value, Unit: string(result.Unit)}},
			}))
		}
	}
	if err == nil {
		_, err = out.WriteTo(w)
	}
	return err
}

// readGo reads what WriteGo has written, alone or several times in a row: then
// the samples of a case are put together. It also reads what go test -bench has
// printed of the same cases.
func readGo(data []byte) (*Run, error) {
	run, index := new(Run), make(map[string]int)
	if err := run.readComments(data); err != nil {
		return nil, err
	}
	lines := benchfmt.NewReader(bytes.NewReader(data), "")
	for lines.Scan() {
		var err error
		_, at := lines.Result().Pos()
		switch record := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			err = errors.New(record.Msg)
		case *benchfmt.Result:
			err = run.readSample(record, index)
		}
		if err != nil {
			return nil, &lineError{at, err}
		}
	}
	return run, lines.Err()
}

// readComments reads the lines that benchfmt passes over.
func (r *Run) readComments(data []byte) error {
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		text = strings.TrimSpace(text)
		r.Partial = r.Partial || text == partial
		if about, ok := strings.CutPrefix(text, environment); ok {
			if err := json.Unmarshal([]byte(about), &r.Environment); err != nil {
				return &lineError{line, err}
			}
		}
	}
	return nil
}

func (r *Run) readSample(line *benchfmt.Result, index map[string]int) error {
	base, parts := line.Name.Parts()
	if n := len(parts); n > 0 && parts[n-1][0] == '-' { // GOMAXPROCS
		parts = parts[:n-1]
	}
	name := strings.TrimPrefix(string(bytes.Join(parts, nil)), "/")
	if string(base)+"/" != benchmark {
		return fmt.Errorf("this program has no Benchmark%s; its names begin with Benchmark%s", line.Name, benchmark)
	}
	value, unit := measured(line)
	if line.Iters < 1 || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("%s: %d bodies of %v %s are no sample", name, line.Iters, value, unit)
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
	r.Results[at].Samples = append(r.Results[at].Samples, measure.Sample{Value: value, Bodies: line.Iters})
	return nil
}

// measured returns the value that the line is about, in the unit that it was
// written in: go test prints figures of its own around what a benchmark reports.
func measured(line *benchfmt.Result) (value float64, unit measure.Unit) {
	for i, v := range line.Values {
		if v.OrigUnit != "" { // benchfmt has made seconds of nanoseconds
			v.Value, v.Unit = v.OrigValue, v.OrigUnit
		}
		own := v.Unit == string(measure.PerOp) || v.Unit == "B/op" || v.Unit == "allocs/op"
		if i == 0 || !own {
			value, unit = v.Value, measure.Unit(v.Unit)
		}
		if !own {
			break
		}
	}
	return value, unit
}
