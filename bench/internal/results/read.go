package results

import (
	"bytes"
	"errors"
	"fmt"
)

// Read reads a run as JSON or as benchmark text, told by the first byte. The
// name is what errors call the data; they name the line as well, where there is
// one to name.
func Read(name string, data []byte) (*Run, error) {
	var run *Run
	var err error
	if trimmed := bytes.TrimLeft(data, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		run, err = readJSON(data)
	} else {
		run, err = readGo(data)
	}
	if err == nil && len(run.Results) == 0 {
		err = errors.New("there are no results in it")
	}
	var at *lineError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("%s:%d: %w", name, at.line, at.err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return run, nil
}

// lineError is a fault in a line of the data.
type lineError struct {
	line int // from 1
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }

func (e *lineError) Unwrap() error { return e.err }

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}
