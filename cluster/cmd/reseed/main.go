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
	"strings"

	"github.com/nats-io/nats.go"

	"handloom/cluster"
	"handloom/internal/cli"
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
	if err := c.reseed(ctx); err != nil {
		fmt.Fprintf(stderr, "reseed: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitRefused
	}
	fmt.Fprintf(stdout, "done: cell %d continues; start its nodes\n", c.cell)
	return 0
}

type command struct {
	servers, journal, state, snapshots   string
	user, password, ca, cert, key, inbox string
	cell                                 uint64
	replicas                             int
}

func parse(args []string) (c command, err error) {
	flags := flag.NewFlagSet("reseed", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	for name, value := range map[string]*string{
		"servers": &c.servers, "journal": &c.journal, "state": &c.state, "snapshots": &c.snapshots,
		"user": &c.user, "password": &c.password, "ca": &c.ca, "cert": &c.cert, "key": &c.key, "inbox": &c.inbox,
	} {
		flags.StringVar(value, name, "", "")
	}
	flags.Uint64Var(&c.cell, "cell", 0, "")
	flags.IntVar(&c.replicas, "replicas", 0, "")
	err = flags.Parse(args)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = fmt.Errorf("arguments: got %q, want none", flags.Args())
	case c.servers == "":
		err = errors.New("-servers: got none, want URLs such as nats://one:4222,nats://two:4222")
	case c.cell == 0:
		err = errors.New("-cell: got none, want the number of the cell")
	case c.journal == "" && c.state == "":
		err = errors.New("-journal, -state: got none, want one of them or both")
	case (c.cert == "") != (c.key == ""):
		err = errors.New("-cert, -key: got one, want both or none")
	case (c.user == "") != (c.password == ""):
		err = errors.New("-user, -password: got one, want both or none")
	}
	return c, err
}

func (c *command) reseed(ctx context.Context) (err error) {
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
		// Open would create a missing folder.
		if _, err := os.Stat(c.journal); err != nil {
			return err
		}
		if o.Journal, err = journal.Open(c.journal, journal.Options{}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.Journal.Close()) }()
	}
	servers := cluster.URLs(strings.Split(c.servers, ","), options...)
	return cluster.Reseed(ctx, servers, cluster.CellID(c.cell), o, state)
}

func (c *command) connection() (o []nats.Option, err error) {
	if c.user != "" {
		password, err := os.ReadFile(c.password)
		if err != nil {
			return nil, err
		}
		o = append(o, nats.UserInfo(c.user, strings.TrimSpace(string(password))))
	}
	if c.ca != "" {
		o = append(o, nats.RootCAs(c.ca))
	}
	if c.cert != "" {
		o = append(o, nats.ClientCert(c.cert, c.key))
	}
	if c.inbox != "" {
		o = append(o, nats.CustomInboxPrefix(c.inbox))
	}
	return o, nil
}
