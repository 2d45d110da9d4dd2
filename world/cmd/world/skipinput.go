package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"handloom/internal/cli"
	"handloom/internal/entry"
	"handloom/internal/report"
	"handloom/journal"
	"handloom/world"
)

// skipInput lets the last tick of a journal run without its input.
func (p *command) skipInput(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	tick, write := flags.Uint64("tick", 0, ""), flags.Bool("write", false, "")
	words, err := cli.ParseFlags(flags, args)
	if err != nil || len(words) != 1 {
		return 0, misused(err, "want one DIR, got %d", len(words))
	}
	if *tick == 0 {
		return 0, misused(nil, "want -tick TICK, the number in the error of the failed tick")
	}
	at, err := p.planSkip(ctx, words[0], *tick)
	switch {
	case err != nil:
		return 0, err
	case at == 0:
		fmt.Fprintf(p.stdout, "the journal already skips the input of tick %d\n", *tick)
		return 0, nil
	case !*write:
		return p.dryRun()
	}
	j, err := journal.Open(words[0], journal.Options{})
	if err != nil {
		return 0, err
	}
	err = world.SkipInput(ctx, j, *tick)
	if err := errors.Join(err, j.Close()); err != nil {
		return 0, err
	}
	fmt.Fprintf(p.stdout, "done: record %d skips the input; start the program\n", at+1)
	return 0, nil
}

// planSkip shows the record of the tick and returns its position, or 0 if its input is skipped.
func (p *command) planSkip(ctx context.Context, dir string, tick uint64) (at uint64, err error) {
	j, err := journal.OpenRead(dir)
	if err != nil {
		return 0, err
	}
	defer j.Close()
	plan := noAppend{Log: j}
	if err := world.SkipInput(ctx, &plan, tick); err != nil || plan.prev == 0 {
		return 0, err
	}
	var r entry.Record
	err = j.Read(ctx, plan.prev-1, func(_ uint64, rec []byte) error {
		if err := r.Decode(rec); err != nil {
			return err
		}
		return io.EOF
	})
	if err != io.EOF {
		return 0, err
	}
	fmt.Fprintf(p.stdout, "tick %d is record %d, of %s, with %s of input\n", tick, plan.prev,
		time.Unix(0, r.Time).UTC().Format(time.RFC3339), report.Bytes(int64(len(r.Input))))
	fmt.Fprintln(p.stdout, "if it fails with this input again, it runs without it: the calls in it are lost")
	return plan.prev, nil
}

// noAppend is a log that only notes the position of an append.
type noAppend struct {
	world.Log
	prev uint64
}

func (l *noAppend) Append(_ context.Context, prev uint64, _ []byte) (uint64, error) {
	l.prev = prev
	return prev + 1, nil
}
