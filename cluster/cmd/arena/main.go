// Command arena runs a game in several cells on three local nodes and three servers of the log,
// while they are killed. It needs no setup.
package main

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/internal/cli"
)

//go:embed usage.txt
var usage string

type options struct {
	kill  bool
	limit time.Duration
	seed  uint64
	page  string
}

func main() { localnet.Main(usage, runNode, parse, run) }

func parse(args []string) (o options, err error) {
	f := cli.NewFlags()
	f.BoolVar(&o.kill, "kill", false, "")
	f.DurationVar(&o.limit, "for", 0, "")
	f.Uint64Var(&o.seed, "seed", rand.Uint64N(1e6), "")
	f.StringVar(&o.page, "page", "127.0.0.1:0", "")
	words, err := cli.ParseFlags(f, args)
	if err == nil && (len(words) > 0 || o.limit < 0) {
		err = fmt.Errorf("arguments, -for: got %q, %v, want none, and at least 0", words, o.limit)
	}
	return o, err
}
