//go:build unix

// Command nemesis runs a world on several processes under faults of machines and networks;
// see -h.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/nemesis"
	"handloom/internal/cli"
)

func main() { localnet.Main(usage(), nemesis.Node, parse, run) }

func run(ctx context.Context, o nemesis.Options, out io.Writer) cli.Verdict {
	again := []string{"-duration", o.Duration.String(), "-seed", fmt.Sprint(o.Seed)}
	if o.Only != nil {
		again = append(again, "-only", strings.Join(o.Only, ","))
	}
	fmt.Fprintln(out, cli.CommandLine("go run ./cluster/cmd/nemesis", again...))
	_, v := nemesis.Run(ctx, o, out)
	return v
}

func parse(args []string) (o nemesis.Options, err error) {
	flags := cli.NewFlags()
	flags.DurationVar(&o.Duration, "duration", time.Minute, "")
	flags.Uint64Var(&o.Seed, "seed", rand.Uint64N(1e6), "")
	flags.Func("only", "", func(list string) error {
		o.Only = strings.Split(list, ",")
		for _, name := range o.Only {
			if !slices.ContainsFunc(nemesis.Kinds(), func(k nemesis.Kind) bool { return k.Name == name }) {
				return fmt.Errorf("got %q, want an event", name)
			}
		}
		return nil
	})
	words, err := cli.ParseFlags(flags, args)
	if err == nil && (len(words) > 0 || o.Duration <= 0) {
		err = fmt.Errorf("arguments, -duration: got %q, %v, want none, and more than 0, such as 30m", words, o.Duration)
	}
	return o, err
}

//go:embed usage.txt
var usageText string

// usage returns the help for -h, with all events.
func usage() string {
	var events strings.Builder
	deck := 0
	for _, k := range nemesis.Kinds() {
		deck += k.Weight
		fmt.Fprintf(&events, "  %-18s %3d  %s\n", k.Name, k.Weight, k.About)
	}
	return fmt.Sprintf(usageText, deck, &events)
}
