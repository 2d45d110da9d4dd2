package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
)

// interruptedBy ends the context at its second read.
type interruptedBy struct {
	io.Reader
	end   context.CancelFunc
	reads int
}

func (r *interruptedBy) Read(b []byte) (int, error) {
	if r.reads++; r.reads == 2 {
		r.end()
	}
	return r.Reader.Read(b[:min(len(b), 4<<10)])
}

func TestAnInterruptFinishesTheTickVerifiesAndReports(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	p := program{stdin: &interruptedBy{Reader: bytes.NewReader(generate(t, 1, 300)), end: end}}
	got := p.stress(ctx, "replay", "-")
	if want := "verdict: interrupted (exit code 130): what was replayed is verified: ticks "; got.code != exitInterrupted || !strings.HasPrefix(got.lastLine(), want) {
		t.Errorf("exit code %d, %s\nwant 130, %s", got.code, got.lastLine(), want)
	}
	if !strings.Contains(got.stdout, "flush p50") || strings.Contains(got.stdout, "ticks 300,") {
		t.Errorf("want a table of fewer than all ticks:\n%s", got.stdout)
	}
}

func TestAnInterruptBeforeTheFirstTick(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	if got := (program{}).stress(ctx); got.code != exitInterrupted {
		t.Errorf("exit code %d, %s", got.code, got.lastLine())
	}
}
