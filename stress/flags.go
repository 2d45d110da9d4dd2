package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"handloom/internal/cli"
	"handloom/store"
)

type settings struct {
	file    string // "": the embedded trace, "-": standard input
	workers cli.Numbers
	shards  int
	html    string // report; "": none
}

const maxWorkers = 1024

func parseReplay(command string, args []string) (settings, error) {
	s := settings{workers: cli.Numbers{1, 2, 4, 8}, shards: 1}
	flags := newFlags()
	flags.Var(&s.workers, "workers", "")
	flags.IntVar(&s.shards, "shards", s.shards, "")
	flags.StringVar(&s.html, "html", "", "")
	files, err := parse(flags, args)
	switch {
	case err != nil:
		return s, err
	case command == "" && len(files) > 0:
		return s, fmt.Errorf("%q is too much; a trace is replayed by: replay %s", files[0], cli.Quote(files[0]))
	case command != "" && len(files) != 1:
		return s, fmt.Errorf("want one TRACE, not %d; the embedded trace is replayed without the command", len(files))
	case slices.Max(s.workers) > maxWorkers:
		return s, fmt.Errorf("-workers has %d; want 1 to %d", slices.Max(s.workers), maxWorkers)
	case s.shards < 1 || s.shards > store.MaxShards:
		return s, fmt.Errorf("-shards is %d; want 1 to %d", s.shards, store.MaxShards)
	}
	if command != "" {
		s.file = files[0]
	}
	switch {
	case sameFile(s.html, s.file):
		return s, fmt.Errorf("-html %s would overwrite the trace", s.html)
	case s.html == "-":
		return s, errors.New("-html wants a file")
	}
	return s, nil
}

func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints the error in one line
	return flags
}

// parse parses flags before, between and after other words, up to "--". It
// returns the words.
func parse(flags *flag.FlagSet, args []string) (words []string, err error) {
	flags.VisitAll(func(f *flag.Flag) { f.Value = &once{Value: f.Value} })
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			return append(words, rest...), nil
		}
		if len(rest) == 0 {
			return words, nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}

type once struct {
	flag.Value
	given bool
}

// IsBoolFlag reports whether the flag needs no value.
func (o *once) IsBoolFlag() bool {
	b, ok := o.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

func (o *once) Set(text string) error {
	if o.given {
		return errors.New("the flag is given twice")
	}
	o.given = true
	return o.Value.Set(text)
}
