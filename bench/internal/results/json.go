package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"handloom/bench/internal/measure"
)

// document is a run as JSON. Its version changes when a field changes its
// meaning or goes; new fields may come.
type document struct {
	Version     int         `json:"version"`
	Command     string      `json:"command"`
	Partial     bool        `json:"partial"`
	Environment Environment `json:"environment"`
	Cases       []entry     `json:"cases"`
}

const version = 1

type entry struct {
	Name    string       `json:"name"`
	Op      string       `json:"op"`
	Impl    string       `json:"impl"`
	N       int          `json:"n"`
	Size    int          `json:"size"`
	Workers int          `json:"workers"`
	Unit    measure.Unit `json:"unit"`
	Median  float64      `json:"median"`
	Low     *float64     `json:"low"` // null: too few samples to tell
	High    *float64     `json:"high"`
	Samples []float64    `json:"samples"` // by round
	Bodies  []int        `json:"bodies"`  // that each sample is the mean of
}

// WriteJSON writes the run as one JSON document.
func (r *Run) WriteJSON(w io.Writer) error {
	doc := document{version, r.Command, r.Partial, r.Environment, []entry{}}
	for i := range r.Results {
		if result := &r.Results[i]; len(result.Samples) > 0 {
			doc.Cases = append(doc.Cases, entryOf(result))
		}
	}
	text, err := json.MarshalIndent(doc, "", "\t")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func entryOf(r *measure.Result) entry {
	s := r.Summary()
	e := entry{
		Name: r.Name(), Op: r.Op, Impl: r.Impl, N: r.N, Size: r.Size, Workers: r.Workers, Unit: r.Unit,
		Median: s.Median, Low: finite(s.Low), High: finite(s.High), Samples: r.Values(),
	}
	for _, sample := range r.Samples {
		e.Bodies = append(e.Bodies, sample.Bodies)
	}
	return e
}

// finite returns where v is, or nil where JSON has no number for it.
func finite(v float64) *float64 {
	if math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// readJSON reads what WriteJSON has written.
func readJSON(data []byte) (*Run, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, jsonFault(data, err)
	}
	if doc.Version != version {
		return nil, fmt.Errorf("version %d of the results is not known here; want %d", doc.Version, version)
	}
	run := &Run{Command: doc.Command, Environment: doc.Environment, Partial: doc.Partial}
	for _, e := range doc.Cases {
		r, err := e.result()
		if err != nil {
			return nil, err
		}
		run.Results = append(run.Results, r)
	}
	return run, nil
}

func (e entry) result() (r measure.Result, err error) {
	r.Case = measure.Case{Op: e.Op, Impl: e.Impl, N: e.N, Size: e.Size, Workers: e.Workers, Unit: e.Unit}
	switch {
	case r.Name() != e.Name:
		return r, fmt.Errorf("case %q has the parts of %q", e.Name, r.Name())
	case len(e.Samples) == 0 || len(e.Bodies) != len(e.Samples):
		return r, fmt.Errorf("case %q has %d samples and %d counts of bodies", e.Name, len(e.Samples), len(e.Bodies))
	}
	for i, v := range e.Samples {
		r.Samples = append(r.Samples, measure.Sample{Value: v, Bodies: e.Bodies[i]})
	}
	return r, nil
}

// jsonFault adds the line to an error that only knows the byte.
func jsonFault(data []byte, err error) error {
	at := int64(len(data))
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	return &lineError{lineAt(data, at), err}
}
