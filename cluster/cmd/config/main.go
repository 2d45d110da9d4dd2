// Command config writes the configuration of the servers of a program; see -h.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"handloom/cluster/internal/rights"
	"handloom/internal/cli"
)

func main() { os.Exit(run(os.Stdout, os.Stderr, os.Args[1:])) }

//go:embed usage.txt
var usage string

const exitRefused = 2

func run(stdout, stderr io.Writer, args []string) int {
	var servers string
	o := rights.Options{Dir: "handloom-config"}
	flags := cli.NewFlags()
	flags.StringVar(&servers, "servers", "", "")
	flags.StringVar(&o.Dir, "dir", o.Dir, "")
	flags.StringVar(&o.Etc, "etc", "/etc/handloom", "")
	flags.StringVar(&o.Data, "data", "/var/lib/handloom", "")
	words, err := cli.ParseFlags(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		return 0
	}
	if err == nil && (len(words) > 0 || servers == "") {
		err = fmt.Errorf("-servers, arguments: got %q, %q, want hosts, and no arguments", servers, words)
	}
	var fresh []rights.Server
	if err == nil {
		o.Servers = strings.Split(servers, ",")
		fresh, err = rights.Write(o)
	}
	if err != nil {
		fmt.Fprintf(stderr, "config: %s; see: go run handloom/cluster/cmd/config -h\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		return exitRefused
	}
	for _, s := range fresh {
		fmt.Fprintf(stdout, "%s/%s: to %s on %s; start: nats-server -c %s/server.conf\n", o.Dir, s.Name, s.Etc, s.Host, s.Etc)
	}
	fmt.Fprintf(stdout, "%s/program: to each node and client\n", o.Dir)
	return 0
}
