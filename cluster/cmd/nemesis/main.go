//go:build unix

// Command nemesis runs a world on several processes under faults of machines and networks;
// see -h.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"

	"handloom/cluster/internal/localnet"
	"handloom/cluster/internal/nemesis"
	"handloom/internal/cli"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == localnet.ChildCommand {
		os.Exit(localnet.Child(os.Args[2:], os.Stdin, os.Stdout, nemesis.Node))
	}
	os.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		usage(stdout)
		return localnet.ExitPassed
	}
	if err != nil {
		fmt.Fprintf(stderr, "nemesis: %v; see -h\n", err)
		return localnet.ExitUsage
	}
	again := []string{"-duration", o.Duration.String(), "-seed", fmt.Sprint(o.Seed)}
	if o.Only != nil {
		again = append(again, "-only", strings.Join(o.Only, ","))
	}
	fmt.Fprintln(stdout, cli.CommandLine("go run ./cluster/cmd/nemesis", again...))
	o.Out = stdout
	_, v := nemesis.Run(ctx, o)
	return v.Exit
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

// usage writes the help for -h, with all events and faults.
func usage(w io.Writer) {
	kinds, deck := nemesis.Kinds(), 0
	for _, k := range kinds {
		deck += k.Weight
	}
	_ = template.Must(template.New("usage").Parse(usageText)).Execute(w, map[string]any{
		"Kinds": kinds, "Deck": deck,
	})
}
