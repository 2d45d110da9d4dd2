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
)

func main() { os.Exit(run(os.Stdout, os.Stderr, os.Args[1:])) }

//go:embed usage.txt
var usage string

const (
	exitFailed = 1
	exitUsage  = 2
)

func run(stdout, stderr io.Writer, args []string) int {
	var servers, ids string
	var add bool
	o := rights.Options{Dir: "handloom-config"}
	flags := flag.NewFlagSet("config", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&servers, "servers", "", "")
	flags.StringVar(&ids, "cells", "", "")
	flags.StringVar(&o.Dir, "dir", o.Dir, "")
	flags.StringVar(&o.Etc, "etc", "/etc/handloom", "")
	flags.StringVar(&o.Data, "data", "/var/lib/handloom", "")
	flags.BoolVar(&add, "add", false, "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("arguments: got %q, want none", flags.Args())
	}
	if err == nil && add == (servers != "") {
		err = errors.New("want either -servers for a new folder, or -add for an existing one")
	}
	if err == nil {
		o.Cells, err = parseCells(ids)
	}
	if err != nil {
		fmt.Fprintf(stderr, "config: %v; see -h\n", err)
		return exitUsage
	}
	if add {
		err = rights.Add(o.Dir, o.Cells)
	} else {
		o.Servers = strings.Split(servers, ",")
		err = rights.Create(o)
	}
	if err != nil {
		fmt.Fprintf(stderr, "config: %v\n", err)
		return exitFailed
	}
	if add {
		fmt.Fprintf(stdout, "%s: copy accounts.conf to each server, and reload it twice: nats-server --signal reload\n", o.Dir)
	} else {
		fmt.Fprintf(stdout, "%s/README.txt names the place of each file\n", o.Dir)
	}
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
