package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"handloom/internal/cli"
	"handloom/internal/entrance"
	"handloom/journal"
)

// repair ends a journal before a record: by default the first damaged one.
func (p *command) repair(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	from, write := flags.Uint64("from", 0, ""), flags.Bool("write", false, "")
	words, err := cli.ParseFlags(flags, args)
	if err != nil || len(words) != 1 {
		return 0, misused(err, "want one DIR, got %d", len(words))
	}
	dir, last := words[0], uint64(0)
	found, err := journal.Entrance(entrance.Key{}).Inspect(dir, func(at uint64, _ []byte) error {
		last = at
		return nil
	})
	if err != nil {
		return 0, err
	}
	var damage *journal.CorruptError
	switch isDamaged := errors.As(found.Damage, &damage); {
	case isDamaged:
		fmt.Fprintln(p.stdout, "damage:", found.Damage)
		if *from == 0 {
			*from = damage.At
		}
		if *from > damage.At {
			return 0, fmt.Errorf("%s: -from: got %d, want at most %d, the first damaged record", dir, *from, damage.At)
		}
	case found.Damage != nil:
		return 0, found.Damage
	case *from == 0:
		return 0, fmt.Errorf("%s: got no damage, want -from RECORD", dir)
	case *from > last:
		return 0, fmt.Errorf("%s: -from: got %d, want at most %d, the last record", dir, *from, last)
	}
	moved, cut, err := journal.Entrance(entrance.Key{}).PlanRepair(dir, *from)
	if err != nil {
		return 0, err
	}
	fmt.Fprintf(p.stdout, "the journal ends before record %s; the last readable one is %s\n", grouped(*from), grouped(last))
	if cut != "" {
		fmt.Fprintln(p.stdout, "cut, after a copy:", cut)
	}
	for _, name := range moved {
		fmt.Fprintln(p.stdout, "moved:", name)
	}
	if !*write {
		return p.dryRun()
	}
	aside, err := journal.Repair(ctx, dir, *from)
	if err == nil {
		fmt.Fprintf(p.stdout, "done; the moved files are in %s\n", filepath.Join(dir, aside))
	}
	return 0, err
}
