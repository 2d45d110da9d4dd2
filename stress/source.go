package main

import (
	"bytes"
	"io"
	"os"

	"handloom/internal/trace"
)

// source is an open trace and how much of it has been read.
type source struct {
	io.Reader
	io.Closer
	name string
	size int64 // 0: not known
	read int64
}

func (s *source) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	s.read += int64(n)
	return n, err
}

// open opens what the file of settings means.
func (p *command) open(file string) (*source, error) {
	switch file {
	case "":
		return &source{Reader: bytes.NewReader(trace.Sample), Closer: io.NopCloser(nil), name: "embedded trace", size: int64(len(trace.Sample))}, nil
	case "-":
		return &source{Reader: p.stdin, Closer: io.NopCloser(nil), name: "stdin"}, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	s := &source{Reader: f, Closer: f, name: file}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		s.size = info.Size()
	}
	return s, nil
}

// sameFile reports whether both names lead to one file.
func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
