package history

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"handloom/internal/cli"
)

// test prints the shortest script that fails a check, as a Go test, and writes its state.
func (c *command) test(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	name, file, game := flags.String("check", "", ""), flags.String("state", "", ""), flags.String("game", "game", "")
	ticks := newTicksFlags(flags)
	words, err := parse(flags, args, "DIR")
	if err != nil {
		return 0, err
	}
	return c.with(ctx, words[0], c.game, *ticks.other, func(h *History) (exit int, err error) {
		from, to := ticks.limits(h)
		tick, failed, err := h.First(ctx, *name, from, to)
		if err != nil {
			return 0, err
		}
		if failed == nil {
			return c.verdict("holds", 0, "check %q after every tick from %d to %d", *name, from, to)
		}
		script, err := h.Shortest(ctx, *name, tick.Number)
		if err != nil {
			return 0, err
		}
		path := *file
		if path == "" {
			path = filepath.Join("testdata", *name+".state")
		}
		// A script that begins with Options.Init needs no file.
		if script.State == nil {
			path = ""
		} else if err := write(path, script.State); err != nil {
			return 0, err
		}
		// The output is only the test, so that it can be appended to a file. Its exit code is as for first.
		fmt.Fprint(c.stdout, script.test(*game, filepath.ToSlash(path)))
		return exitFound, nil
	})
}

// write writes a file, in a folder that need not exist.
func write(path string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o666)
}
