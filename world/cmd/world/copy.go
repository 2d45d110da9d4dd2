package main

import (
	"context"
	"fmt"

	"handloom/internal/cli"
	"handloom/journal"
)

// copy copies a journal, also while a program has it open.
func (p *command) copy(ctx context.Context, args []string) (exit int, err error) {
	words, err := cli.ParseFlags(cli.NewFlags(), args)
	if err != nil || len(words) != 2 {
		return 0, misused(err, "want DIR and TO, got %d", len(words))
	}
	if err := journal.Copy(ctx, words[0], words[1]); err != nil {
		return 0, err
	}
	fmt.Fprintln(p.stdout, "copied to", words[1])
	return 0, nil
}
