package history

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"handloom/internal/cli"
	"handloom/store"
)

// show prints the items of a table after a tick.
func (c *command) show(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	tick, table, other := flags.Uint64("tick", 0, ""), flags.String("table", "", ""), flags.Bool("any", false, "")
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	return c.with(ctx, words[0], c.game, *other, func(h *History) (exit int, err error) {
		// This build plays the tick: a snapshot after it, and digests in the log, may be another's.
		// The first tick of a range has none before it.
		h.unchecked = true
		if *tick > 0 {
			_, _ = h.seek(ctx, *tick-1, *tick)
		}
		p, err := h.seek(ctx, *tick, *tick)
		if err != nil {
			return 0, err
		}
		tables := p.store.DigestTables()
		if !slices.ContainsFunc(tables, func(t store.TableDigest) bool { return t.Name == *table }) {
			return 0, misused("-table: got %q, want one of %v", *table, namesOf(tables))
		}
		for id, item := range p.store.DumpTable(*table, 0) {
			fmt.Fprint(c.stdout, id, " ", textOf(item))
			for name, v := range p.store.DumpColumns(id) {
				fmt.Fprint(c.stdout, " ", name, " ", textOf(v))
			}
			fmt.Fprintln(c.stdout)
		}
		return 0, nil
	})
}

// textOf returns the text of a value that v points to, in one line.
func textOf(v any) string {
	of := reflect.ValueOf(v).Elem()
	if of.Kind() == reflect.String {
		return strconv.Quote(of.String())
	}
	return fmt.Sprintf("%+v", of)
}
