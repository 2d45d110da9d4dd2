package history

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"handloom/internal/cli"
	"handloom/store"
	"handloom/world"
)

// A digestLine is a line of a file of digests. The first line has all tables, later lines the tables
// that changed, and the last line only the reason why no tick follows. A file without a last line was
// cut off, so diff refuses it.
type digestLine struct {
	Version string `json:",omitempty"`
	state
	End string `json:",omitempty"`
}

// complete is the end of a file that has the last tick asked for. Other ends are the error of a tick.
const complete = "complete"

// digests writes the digests of the states after each tick to a file, for diff.
func (c *command) digests(ctx context.Context, args []string) (exit int, err error) {
	flags := cli.NewFlags()
	ticks := newTicksFlags(flags)
	words, err := parse(flags, args, "DIR", "FILE")
	if err != nil {
		return 0, err
	}
	return c.with(ctx, words[0], c.game, *ticks.other, func(h *History) (exit int, err error) {
		from, to := ticks.limits(h)
		file, err := os.Create(words[1])
		if err != nil {
			return 0, err
		}
		out := bufio.NewWriter(file)
		last, err := h.writeDigests(ctx, out, from, to)
		// A file that is incomplete for an error has no last line, and diff refuses it.
		if err := errors.Join(err, out.Flush(), file.Close()); err != nil {
			return 0, err
		}
		if last.End != complete {
			fmt.Fprintln(c.stdout, last.End)
		}
		fmt.Fprintf(c.stdout, "%s has the digests of ticks %d to %d, version %q\n", words[1], from, last.Tick, h.version)
		return 0, nil
	})
}

// writeDigests plays ticks and returns the last line that it wrote. Digests in the log, and
// snapshots after the first tick, are of the build that wrote them: neither is looked at.
func (h *History) writeDigests(ctx context.Context, to io.Writer, first, last uint64) (end digestLine, err error) {
	h.unchecked = true
	p, err := h.seek(ctx, first, last)
	if err != nil {
		return end, err
	}
	if err := h.within(p.span, first, last); err != nil {
		return end, err
	}
	lines := json.NewEncoder(to)
	err = p.store.Team(ctx, func(ctx context.Context) error {
		at := stateOf(p)
		line := digestLine{Version: h.version, state: at}
		for {
			end.Tick = at.Tick
			if err := lines.Encode(line); err != nil || at.Tick == last {
				end.End = complete
				return err
			}
			err := p.next(ctx)
			if failed, ok := errors.AsType[*world.TickError](err); ok {
				// The message of a panic has lines, and diff prints the end in one.
				end.End = strings.ReplaceAll(failed.Error(), "\n", "; ")
				return nil
			}
			if err != nil {
				return err
			}
			before := at
			at = stateOf(p)
			line = digestLine{state: at}
			line.Tables = changedTables(before.Tables, at.Tables)
		}
	})
	if err != nil {
		return end, err
	}
	return end, lines.Encode(end)
}

// changedTables returns the digests of tables that differ from those before.
func changedTables(before, now []store.TableDigest) (changed []store.TableDigest) {
	for i, t := range now {
		if !slices.Equal(t.Shards, before[i].Shards) {
			changed = append(changed, t)
		}
	}
	return changed
}
