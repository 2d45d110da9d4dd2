package main

import (
	"bytes"
	"io"
	"os"

	"handloom/internal/trace"
)

type source struct {
	io.ReadCloser
	name string
}

func (p *command) open(file string) (source, error) {
	switch file {
	case "":
		return source{io.NopCloser(bytes.NewReader(trace.Sample)), "embedded trace"}, nil
	case "-":
		return source{io.NopCloser(p.stdin), "stdin"}, nil
	}
	f, err := os.Open(file)
	return source{f, file}, err
}
