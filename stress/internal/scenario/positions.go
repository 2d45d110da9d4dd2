package scenario

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// positions returns the line of every value in text by its path, such as
// tables[1].items. It fails, with a line, on what is no JSON, on a field that a
// [Scenario] does not have and on one that is given twice: encoding/json takes
// the latter two, and other spellings of a name, without a word.
func positions(text []byte) (lines map[string]int, line int, err error) {
	w := walker{text: text, in: json.NewDecoder(bytes.NewReader(text)), lines: make(map[string]int), known: make(map[string]bool)}
	w.learn(reflect.TypeFor[Scenario](), "")
	err = w.value("")
	if err == nil {
		if _, more := w.in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the scenario")
		}
	}
	if err != nil {
		return nil, w.fault(err), errors.New(plain(err))
	}
	return w.lines, 0, nil
}

type walker struct {
	text  []byte
	in    *json.Decoder
	lines map[string]int  // by path
	known map[string]bool // paths without indices
}

// learn notes the paths that values of type t have.
func (w *walker) learn(t reflect.Type, path string) {
	switch t.Kind() {
	case reflect.Slice:
		w.learn(t.Elem(), path+"[]")
	case reflect.Struct:
		for f := range t.Fields() {
			if name := f.Tag.Get("json"); name != "-" {
				w.learn(f.Type, join(path, name))
			}
		}
	default:
	}
	w.known[path] = true
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// line returns the line on which the last token ended.
func (w *walker) line() int { return lineAt(w.text, w.in.InputOffset()) }

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(max(offset, 0), int64(len(text)))], []byte("\n"))
}

// fault returns the line of err.
func (w *walker) fault(err error) int {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return lineAt(w.text, syntax.Offset-1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return lineAt(bytes.TrimRight(w.text, " \t\r\n"), int64(len(w.text)))
	}
	return w.line()
}

func plain(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the file ends within the scenario"
	}
	return err.Error()
}

// value walks one value.
func (w *walker) value(path string) error {
	token, err := w.in.Token()
	if err != nil {
		return err
	}
	w.lines[path] = w.line()
	switch token {
	case nil:
		return fmt.Errorf("%s is null", cmp.Or(path, "the scenario"))
	case json.Delim('{'):
		return w.object(path)
	case json.Delim('['):
		return w.array(path)
	}
	return nil
}

func (w *walker) object(path string) error {
	for w.in.More() {
		token, err := w.in.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		field := join(path, name)
		if !ok || !w.known[withoutIndices(field)] {
			return fmt.Errorf("unknown field %q", field)
		}
		if _, twice := w.lines[field]; twice {
			return fmt.Errorf("%s is given twice", field)
		}
		if err := w.value(field); err != nil {
			return err
		}
	}
	_, err := w.in.Token()
	return err
}

func (w *walker) array(path string) error {
	for i := 0; w.in.More(); i++ {
		if err := w.value(fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	_, err := w.in.Token()
	return err
}

// withoutIndices turns tables[1].items into tables[].items.
func withoutIndices(path string) string {
	var b strings.Builder
	inside := false
	for _, r := range path {
		if r == ']' {
			inside = false
		}
		if !inside {
			b.WriteRune(r)
		}
		if r == '[' {
			inside = true
		}
	}
	return b.String()
}

// mistyped returns the line and the reason of an error of json.Unmarshal.
func mistyped(text []byte, err error) (int, string) {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return 1, err.Error()
	}
	want := map[reflect.Kind]string{
		reflect.Int: "a whole number", reflect.Float64: "a number", reflect.String: "a string", reflect.Bool: "true or false",
		reflect.Slice: "a list", reflect.Struct: "an object",
	}[wrong.Type.Kind()]
	return lineAt(text, wrong.Offset-1), strings.TrimPrefix(fmt.Sprintf("%s: want %s; found %s", wrong.Field, want, wrong.Value), ": ")
}
