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

	"handloom/internal/cli"
	"handloom/store"
)

// A digestFile reads a file of digests. It has the state after one tick.
type digestFile struct {
	state
	name, version string
	lines         *json.Decoder
	end           string // "": a tick follows
}

func newDigestFile(name string, from io.Reader) (*digestFile, error) {
	f := &digestFile{name: name, lines: json.NewDecoder(bufio.NewReader(from))}
	var first digestLine
	if err := f.lines.Decode(&first); err != nil {
		return nil, f.refused(err)
	}
	f.version, f.state = first.Version, first.state
	return f, nil
}

func (f *digestFile) refused(err error) error {
	return fmt.Errorf("%s: want a file that digests wrote to its end: after tick %d: %w", f.name, f.Tick, err)
}

// next reads the state after the next tick, or the end.
func (f *digestFile) next() error {
	var line digestLine
	if err := f.lines.Decode(&line); err != nil {
		return f.refused(err)
	}
	// The last line is not a state: the state before it stays.
	if f.end = line.End; f.end != "" {
		return nil
	}
	if line.Tick != f.Tick+1 { // lines that are cut out would hide a difference
		return f.refused(fmt.Errorf("got tick %d", line.Tick))
	}
	for _, t := range line.Tables {
		i := slices.IndexFunc(f.Tables, func(of store.TableDigest) bool { return of.Name == t.Name })
		if i < 0 || len(t.Shards) != len(f.Tables[i].Shards) {
			return f.refused(fmt.Errorf("got table %q with %d shards", t.Name, len(t.Shards)))
		}
		f.Tables[i] = t
	}
	f.Tick, f.Epoch = line.Tick, line.Epoch
	return nil
}

// diff compares two files of digests.
func (c *command) diff(ctx context.Context, args []string) (exit int, err error) {
	words, err := parse(cli.NewFlags(), args, "A", "B")
	if err != nil {
		return 0, err
	}
	var files [2]*digestFile
	for i, name := range words {
		file, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		if files[i], err = newDigestFile(name, file); err != nil {
			return 0, err
		}
	}
	return c.compareFiles(ctx, files[0], files[1])
}

// compareFiles compares the states after the ticks that both files have.
func (c *command) compareFiles(ctx context.Context, a, b *digestFile) (exit int, err error) {
	if !slices.Equal(namesOf(a.Tables), namesOf(b.Tables)) {
		return 0, fmt.Errorf("tables differ: %s has %v, %s has %v", a.name, namesOf(a.Tables), b.name, namesOf(b.Tables))
	}
	// The file that begins earlier goes to the first tick of the other one.
	for _, f := range [][2]*digestFile{{a, b}, {b, a}} {
		for f[0].Tick < f[1].Tick && f[0].end == "" {
			if err := f[0].next(); err != nil {
				return 0, err
			}
		}
	}
	if a.Tick != b.Tick {
		return 0, fmt.Errorf("no tick in common: at tick %d one ends, at tick %d the other begins", min(a.Tick, b.Tick), max(a.Tick, b.Tick))
	}
	// From here on both have the state after the same tick.
	from, versions := a.Tick, fmt.Sprintf("%q and %q", a.version, b.version)
	for {
		if text := difference(a.state, b.state); text != "" {
			return c.verdict("differs", exitFound, "%s, after tick %d: %s", versions, a.Tick, text)
		}
		last := a.Tick
		if err := errors.Join(context.Cause(ctx), a.next(), b.next()); err != nil {
			return 0, err
		}
		if a.end == "" && b.end == "" {
			continue
		}
		// A file that is complete here does not have the tick that fails in the other file.
		goesOn := a.end == "" || b.end == ""
		for _, f := range []*digestFile{a, b} {
			if f.end == "" || f.end == complete {
				continue
			}
			fmt.Fprintf(c.stdout, "%s: %s\n", f.name, f.end)
			if goesOn {
				return c.verdict("differs", exitFound, "%s: tick %d fails only in %s", versions, last+1, f.name)
			}
		}
		return c.verdict("equal", 0, "%s: the states after ticks %d to %d", versions, from, last)
	}
}

// namesOf returns the tables and their shards as text, such as ship/4.
func namesOf(tables []store.TableDigest) (names []string) {
	for _, t := range tables {
		names = append(names, fmt.Sprintf("%s/%d", t.Name, len(t.Shards)))
	}
	return names
}
