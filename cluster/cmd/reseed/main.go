// Command reseed creates the stream of a cell again from a journal and a state; see -h and
// guide/losses.md.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/cluster/cells"
	"handloom/internal/cli"
	"handloom/internal/entrance"
	"handloom/journal"
)

//go:embed usage.txt
var usage string

func main() { os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr)) }

const exitRefused = 2

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (exit int) {
	c, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err != nil {
		fmt.Fprintf(stderr, "reseed: %v; see: go run handloom/cluster/cmd/reseed -h\n", err)
		return exitRefused
	}
	if err := c.reseed(ctx, stdout); err != nil {
		fmt.Fprintf(stderr, "reseed: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitRefused
	}
	if c.write {
		fmt.Fprintf(stdout, "done: stream %s of cell %s is complete; start its nodes\n", c.cell.Stream(), c.cell)
	} else {
		fmt.Fprintln(stdout, "dry run: nothing has changed; end all nodes of the cell and repeat this with -write")
	}
	return 0
}

type command struct {
	servers, files, journal, state, snapshots string
	cell                                      cluster.CellID
	replicas                                  int
	write                                     bool
}

func parse(args []string) (c command, err error) {
	flags := cli.NewFlags()
	for name, value := range map[string]*string{
		"servers": &c.servers, "files": &c.files, "journal": &c.journal, "state": &c.state, "snapshots": &c.snapshots,
	} {
		flags.StringVar(value, name, "", "")
	}
	flags.Func("cell", "", func(text string) (err error) {
		c.cell, err = parseCell(text)
		return err
	})
	flags.IntVar(&c.replicas, "replicas", 0, "")
	flags.BoolVar(&c.write, "write", false, "")
	words, err := cli.ParseFlags(flags, args)
	switch {
	case err != nil:
	case len(words) > 0:
		err = fmt.Errorf("arguments: got %q, want none", words)
	case c.servers == "":
		err = errors.New("-servers: got none, want URLs such as nats://one:4222,nats://two:4222")
	case c.cell == 0:
		err = errors.New("-cell: got none, want a number, or 16 hexadecimal digits")
	case c.journal == "" && c.state == "":
		err = errors.New("-journal, -state: got none, want one of them or both")
	}
	return c, err
}

func (c *command) reseed(ctx context.Context, stdout io.Writer) (err error) {
	o := cluster.Options{Replicas: c.replicas}
	if c.snapshots != "" {
		o.Snapshots = cluster.Folder(c.snapshots)
	}
	options, err := c.connection()
	if err != nil {
		return err
	}
	var state io.ReadSeeker
	if c.state != "" {
		f, err := os.Open(c.state)
		if err != nil {
			return err
		}
		defer f.Close()
		state = f
	}
	if c.journal != "" {
		if o.Journal, err = c.openJournal(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.Journal.Close()) }()
	}
	servers := cluster.URLs(strings.Split(c.servers, ","), options...)
	steps, err := cluster.Entrance(ctx, entrance.Key{}, servers, c.cell, o, state)
	for _, step := range steps {
		fmt.Fprintln(stdout, step)
	}
	if err != nil || !c.write {
		return err
	}
	return cluster.Reseed(ctx, servers, c.cell, o, state)
}

// openJournal locks the journal only to write.
func (c *command) openJournal() (*journal.Journal, error) {
	if !c.write {
		return journal.OpenRead(c.journal)
	}
	// Open would create a missing folder.
	if _, err := os.Stat(c.journal); err != nil {
		return nil, err
	}
	return journal.Open(c.journal, journal.Options{})
}

// parseCell parses 16 hexadecimal digits, as of [cells.ID.String], or a decimal number without
// leading zeros.
func parseCell(text string) (cells.ID, error) {
	if id, err := cells.ParseID(text); err == nil {
		return id, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != text {
		return 0, fmt.Errorf("cell: got %q, want a number without leading zeros, or 16 lower-case hexadecimal digits", text)
	}
	return cells.ID(n), nil
}

// connection returns the credentials of a program, from files of cluster/cmd/config.
func (c *command) connection() ([]nats.Option, error) {
	if c.files == "" {
		return nil, nil
	}
	file := func(name string) string { return filepath.Join(c.files, name) }
	for _, name := range []string{"ca.pem", "node.pem", "node.key"} { // without them, no server answers
		if _, err := os.Stat(file(name)); err != nil {
			return nil, fmt.Errorf("-files: %w", err)
		}
	}
	return []nats.Option{nats.RootCAs(file("ca.pem")), nats.ClientCert(file("node.pem"), file("node.key"))}, nil
}
