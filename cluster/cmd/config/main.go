// Command config writes the configuration of servers that keeps cells apart; see -h.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"handloom/cluster/cells"
	"handloom/cluster/internal/rights"
	"handloom/internal/cli"
)

func main() { os.Exit(run(os.Stdout, os.Stderr, os.Args[1:])) }

//go:embed usage.txt
var usage string

const exitRefused = 2

func run(stdout, stderr io.Writer, args []string) int {
	var servers, ids string
	var add bool
	o := rights.Options{Dir: "handloom-config"}
	flags := cli.NewFlags()
	flags.StringVar(&servers, "servers", "", "")
	flags.StringVar(&ids, "cells", "", "")
	flags.StringVar(&o.Dir, "dir", o.Dir, "")
	flags.StringVar(&o.Etc, "etc", "/etc/handloom", "")
	flags.StringVar(&o.Data, "data", "/var/lib/handloom", "")
	flags.BoolVar(&add, "add", false, "")
	words, err := cli.ParseFlags(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err == nil && len(words) > 0 {
		err = fmt.Errorf("arguments: got %q, want none", words)
	}
	if err == nil && !add && servers == "" {
		err = errors.New("-servers, -add: got none, want -servers for a new folder, or -add for an existing one")
	}
	if err == nil {
		o.Cells, err = parseCells(ids)
	}
	if err != nil {
		fmt.Fprintf(stderr, "config: %v; see: go run handloom/cluster/cmd/config -h\n", err)
		return exitRefused
	}
	if servers != "" {
		o.Servers = strings.Split(servers, ",")
	}
	write := rights.Create
	if add {
		write = rights.Add
	}
	if err := write(o); err != nil {
		fmt.Fprintf(stderr, "config: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitRefused
	}
	if !add {
		fmt.Fprintf(stdout, "%s/README.txt names the place of each file\n", o.Dir)
		return 0
	}
	if servers != "" {
		fmt.Fprintf(stdout, "%s: copy the folder of each new server, and start it: the first line of its server.conf has the command\n", o.Dir)
	}
	fmt.Fprintf(stdout, "%s: copy accounts.conf to each server, and reload it twice: nats-server --signal reload\n", o.Dir)
	return 0
}

func parseCells(list string) (ids []cells.ID, err error) {
	if list == "" {
		return nil, nil
	}
	for text := range strings.SplitSeq(list, ",") {
		id, err := rights.ParseCell(text)
		if err != nil {
			return nil, fmt.Errorf("-cells: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
