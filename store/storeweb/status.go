package storeweb

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"handloom/internal/report"
)

// Status returns a handler with a page about the struct that status returns, such as a
// world.Status. The page shows the fields by their JSON names, with durations and sizes in
// words, and text that is omitted when empty as a problem. As JSON it is the struct itself.
//
// It serves any number of concurrent requests, and calls status once for each. It returns 400
// for invalid requests, and 405 for methods except GET and HEAD.
func Status(title string, status func() any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, refused := ask(r)
		if refused == nil && asked.ofTable {
			refused = problem(http.StatusBadRequest, "this page has no tables")
		}
		if refused != nil {
			refused.write(w, r)
			return
		}
		v := status()
		a := &answer{Status: http.StatusOK, Figures: &figures{Title: title, Time: time.Now(), value: v}, asked: asked}
		a.Figures.add(v)
		a.write(w, r)
	})
}

// figures are the fields of a status.
type figures struct {
	Title    string
	Time     time.Time
	Problems []figure
	Rows     []figure

	value any
}

type figure struct{ Name, Value, Exact string }

func (f *figures) MarshalJSON() ([]byte, error) { return json.Marshal(f.value) }

func (f *figures) add(v any) {
	status := reflect.Indirect(reflect.ValueOf(v))
	if status.Kind() != reflect.Struct {
		f.Rows = []figure{newFigure("value", status)}
		return
	}
	for field, v := range status.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		omitted := strings.Contains(options, "omitempty")
		switch row := newFigure(name, v); {
		case omitted && v.IsZero():
		case omitted && v.Kind() == reflect.String:
			f.Problems = append(f.Problems, row)
		default:
			f.Rows = append(f.Rows, row)
		}
	}
}

// newFigure returns the field with a JSON name. The unit at the end of the name becomes part of
// the value.
func newFigure(name string, v reflect.Value) figure {
	b, err := json.Marshal(v.Interface())
	f := figure{Name: strings.ReplaceAll(name, "_", " "), Exact: string(b)}
	f.Value = f.Exact
	switch text, sized := strings.CutSuffix(f.Name, " bytes"); {
	case err != nil:
		f.Value = err.Error()
	case v.Type() == reflect.TypeFor[time.Duration]():
		f.Name = strings.TrimSuffix(f.Name, " ns")
		f.Value = duration(time.Duration(v.Int()))
	case sized && v.CanInt():
		f.Name, f.Value = text+" size", report.Bytes(v.Int())
	case sized && v.CanUint():
		f.Name, f.Value = text+" size", report.Bytes(int64(v.Uint()))
	case v.Kind() == reflect.Bool:
		f.Value = map[bool]string{true: "yes", false: "no"}[v.Bool()]
	case v.Kind() == reflect.String:
		f.Value = v.String()
	case v.CanInt() || v.CanUint():
		f.Value = grouped(f.Exact)
	}
	return f
}

// duration is report.Duration up to a minute.
func duration(d time.Duration) string {
	if d.Abs() < time.Minute {
		return report.Duration(d)
	}
	return d.Round(time.Second).String()
}

// Exactly is the value in a tooltip: the JSON where the page rounds.
func (f figure) Exactly() string {
	if _, err := strconv.ParseFloat(f.Exact, 64); err != nil {
		return ""
	}
	return f.Exact
}
