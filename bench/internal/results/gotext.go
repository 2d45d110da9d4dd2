package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"handloom/bench/internal/measure"

	"golang.org/x/perf/benchfmt"
)

// benchmark prefixes the names of results, after the word Benchmark.
const benchmark = "Handloom/"

// WriteGo writes the run as benchmark text, one line per sample. The
// environment is a comment, because benchstat compares only lines of equal
// configuration.
func (r *Run) WriteGo(w io.Writer) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n", r.Environment)
	if r.Partial {
		fmt.Fprintln(&out, "# partial: true")
	}
	fmt.Fprintf(&out, "Unit %s better=higher\n", measure.PerSecond)
	var err error
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

// ReadGo returns the samples that [Run.WriteGo] wrote, by the name of the case.
func ReadGo(r io.Reader) (map[string][]float64, error) {
	values := make(map[string][]float64)
	lines := benchfmt.NewReader(r, "output")
	for lines.Scan() {
		switch line := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			name := strings.TrimPrefix(line.Name.String(), benchmark)
			if at := strings.LastIndexByte(name, '-'); at >= 0 {
				name = name[:at] // without GOMAXPROCS
			}
			values[name] = append(values[name], line.Values[0].Value)
		}
	}
	return values, lines.Err()
}
