package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"handloom/internal/cli"
)

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

func TestInterrupt_FinishesTheTickAndReports(t *testing.T) {
	for cause, exit := range map[error]int{cli.ErrInterrupted: 130, cli.ErrTerminated: 143} {
		ctx, end := context.WithCancelCause(t.Context())
		p := command{stdin: &interruptedBy{Reader: bytes.NewReader(generate(t, 1, 300)), end: func() { end(cause) }}}
		got := p.stress(ctx, "replay", "-")
		got.want(t, exit, fmt.Sprintf("verdict: interrupted (exit code %d): what was replayed is verified: ticks ", exit), "flush p50")
		if strings.Contains(got.stdout, "ticks 300,") {
			t.Errorf("want a table of fewer than all ticks:\n%s", got.stdout)
		}
	}
}

func TestInterrupt_BeforeTheFirstTick(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	end()
	command{}.stress(ctx).want(t, exitInterrupted, "")
}
