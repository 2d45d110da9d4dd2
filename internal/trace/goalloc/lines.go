package goalloc

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"handloom/internal/trace"
)

// source gives the lines of a text and makes the errors that name them.
type source struct {
	name string
	scan *bufio.Scanner
	line int // lines read so far
}

func newSource(r io.Reader, name string, maxLine int) *source {
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &source{name: name, scan: scan}
}

// next returns the next line, good until the next call, or false at the end
// and on a failure, which err tells apart.
func (s *source) next() ([]byte, bool) {
	if !s.scan.Scan() {
		return nil, false
	}
	s.line++
	return s.scan.Bytes(), true
}

func (s *source) err() error {
	err := s.scan.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bufio.ErrTooLong):
		s.line++
		return s.fault(errors.New("the line is too long for the text of go tool trace"))
	}
	return s.fault(fmt.Errorf("reading failed after this line: %w", err))
}

// fault makes err an error of the line read last.
func (s *source) fault(err error) error {
	return &trace.Error{File: s.name, Line: max(s.line, 1), Reason: err.Error(), Err: err}
}
