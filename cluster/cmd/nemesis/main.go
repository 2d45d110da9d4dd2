//go:build unix

// Command nemesis runs a world on several processes and does to them what machines and
// networks do; see -h.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"handloom/cluster/internal/nemesis"
	"handloom/internal/interrupt"
)

// Exit codes. What a signal ended has those of package interrupt.
const (
	exitPassed = 0
	exitFailed = 1  // something kept the run from its end
	exitUsage  = 2  // wrong usage
	exitLost   = 11 // something is lost, changed, done twice, or differs
	exitStuck  = 14 // the cluster does not come back behind an event
	exitMissed = 20 // a fault put in on purpose was not found
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == nemesis.ChildCommand {
		os.Exit(nemesis.Child(os.Args[2:], os.Stdin, os.Stdout, nemesis.Notes))
	}
	os.Exit((&program{os.Stdout, os.Stderr}).run(interrupt.Context(), os.Args[1:]))
}

type program struct{ stdout, stderr io.Writer }

func (p *program) run(ctx context.Context, args []string) int {
	o := nemesis.Options{Duration: time.Minute, Seed: rand.Uint64N(1e6), Hz: 20, Clients: 8, Game: nemesis.Notes, Client: nemesis.LeaveNotes}
	var only, jsonFile string
	var keep bool
	flags := flag.NewFlagSet("nemesis", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.DurationVar(&o.Duration, "duration", o.Duration, "")
	flags.Uint64Var(&o.Seed, "seed", o.Seed, "")
	flags.IntVar(&o.Hz, "hz", o.Hz, "")
	flags.IntVar(&o.Clients, "clients", o.Clients, "")
	flags.StringVar(&only, "only", "", "")
	flags.StringVar(&o.Canary, "canary", "", "")
	flags.StringVar(&jsonFile, "json", "", "")
	flags.StringVar(&o.Dir, "dir", "", "")
	flags.BoolVar(&keep, "keep", false, "")
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		io.WriteString(p.stdout, usage())
		return exitPassed
	}
	if err == nil {
		err = check(&o, flags.Args(), only)
	}
	if err != nil {
		fmt.Fprintf(p.stderr, "nemesis: %v; see -h\n", err)
		return exitUsage
	}
	again := fmt.Sprintf("go run ./cluster/cmd/nemesis -duration %v -seed %d -hz %d -clients %d", o.Duration, o.Seed, o.Hz, o.Clients)
	if only != "" {
		again += " -only " + only
	}
	if o.Canary != "" {
		again += " -canary " + o.Canary
	}
	text := p.stdout
	if jsonFile == "-" {
		text = p.stderr
	}
	fmt.Fprintln(text, again)
	return p.play(ctx, o, text, jsonFile, keep)
}

// check says what is wrong with the flags.
func check(o *nemesis.Options, rest []string, only string) error {
	var names []string
	for _, k := range nemesis.Kinds() {
		names = append(names, k.Name)
	}
	if only != "" {
		o.Only = strings.Split(only, ",")
	}
	for _, name := range o.Only {
		if !slices.Contains(names, name) {
			return fmt.Errorf("no event is called %q; want some of %s", name, strings.Join(names, ","))
		}
	}
	switch _, known := nemesis.Canaries[o.Canary]; {
	case len(rest) > 0:
		return fmt.Errorf("%q is too much", rest)
	case o.Duration <= 0:
		return fmt.Errorf("-duration is %v; want some time, such as 30m", o.Duration)
	case o.Hz < 1 || o.Hz > 1000:
		return fmt.Errorf("-hz is %d; want 1 to 1000", o.Hz)
	case o.Clients < 1 || o.Clients > 1000:
		return fmt.Errorf("-clients is %d; want 1 to 1000", o.Clients)
	case o.Canary != "" && !known:
		return fmt.Errorf("no fault is called %q; see -h", o.Canary)
	}
	return nil
}

// play runs it, tells what came of it, and leaves nothing behind unless it is wanted, or
// something is wrong.
func (p *program) play(ctx context.Context, o nemesis.Options, text io.Writer, jsonFile string, keep bool) int {
	failed := func(err error) int {
		fmt.Fprintf(p.stderr, "nemesis: %v\n", err)
		return exitFailed
	}
	if o.Dir == "" {
		dir, err := os.MkdirTemp("", "nemesis-")
		if err != nil {
			return failed(err)
		}
		o.Dir = dir
	} else if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return failed(err)
	} else if names, err := os.ReadDir(o.Dir); err != nil || len(names) > 0 {
		return failed(errors.Join(err, fmt.Errorf("-dir %s is not empty", o.Dir)))
	}
	path, err := os.Executable()
	if err != nil {
		return failed(err)
	}
	o.Command = []string{path}
	o.Tell = func(line string) { fmt.Fprintln(text, line) }
	run, err := nemesis.New(o)
	if err != nil {
		return failed(err)
	}
	r, err := run.Do(ctx)
	v := judge(ctx, r, err, o.Canary)
	r.WriteTo(text)
	for _, f := range r.Faults {
		fmt.Fprintln(text, "fault:", f)
	}
	if keep || v.keep {
		fmt.Fprintf(text, "logs, journals and stores are in %s\n", o.Dir)
	} else if err := os.RemoveAll(o.Dir); err != nil {
		return failed(err)
	}
	fmt.Fprintln(text, v)
	if jsonFile != "" {
		if err := p.writeJSON(jsonFile, o, r, v); err != nil {
			return failed(err)
		}
	}
	return v.exit
}

func (p *program) writeJSON(file string, o nemesis.Options, r *nemesis.Result, v verdict) error {
	b, err := json.MarshalIndent(map[string]any{
		"verdict": v.name, "exit": v.exit, "reason": v.reason, "seed": o.Seed, "hz": o.Hz, "result": r,
	}, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if file == "-" {
		_, err = p.stdout.Write(b)
		return err
	}
	return os.WriteFile(file, b, 0o600)
}

// A verdict is what a run came to.
type verdict struct {
	name   string
	exit   int
	reason string
	keep   bool // what it leaves says more
}

func (v verdict) String() string {
	return fmt.Sprintf("verdict: %s (exit code %d): %s", v.name, v.exit, v.reason)
}

// judge judges a run. What is lost outweighs what ended it.
func judge(ctx context.Context, r *nemesis.Result, err error, canary string) verdict {
	all := fmt.Sprintf("ticks and calls lost %d, changed %d, done twice %d, diverged %d, records broken %d; zombies %d, fenced %d",
		r.Lost, r.Changed, r.Doubled, r.Diverged, r.Broken, r.Zombies, r.Fenced)
	switch {
	case canary != "" && r.Bad():
		return verdict{"found", exitPassed, canary + ": " + r.Faults[0], false}
	case r.Bad():
		return verdict{"lost", exitLost, all, true}
	case ctx.Err() != nil:
		return verdict{"interrupted", interrupt.Exit(ctx), "until then: " + all, false}
	case errors.Is(err, nemesis.ErrStuck):
		return verdict{"stuck", exitStuck, err.Error(), true}
	case err != nil:
		return verdict{"failed", exitFailed, err.Error(), true}
	case canary != "":
		return verdict{"missed", exitMissed, canary + " was not found", false}
	}
	return verdict{"passed", exitPassed, all, false}
}
