package main

import (
	"fmt"
	"slices"

	"handloom/internal/cli"
	"handloom/store"
)

type settings struct {
	file    string // "": the embedded trace, "-": standard input
	workers cli.Numbers
	shards  int
}

const maxWorkers = 1024

func parseReplay(command string, args []string) (settings, error) {
	s := settings{workers: cli.Numbers{1, 2, 4, 8}, shards: 1}
	flags := cli.NewFlags()
	flags.Var(&s.workers, "workers", "")
	flags.IntVar(&s.shards, "shards", s.shards, "")
	files, err := cli.ParseFlags(flags, args)
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
	return s, nil
}
