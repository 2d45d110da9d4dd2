package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"handloom/internal/cli"
	"handloom/stress/internal/campaign"
)

type harnessing struct {
	profile   string
	seed      uint64
	seeds     int // 0: until the duration ends
	duration  time.Duration
	program   string // file
	shrink    bool
	mutant    string // name of a fault, all or rare
	artifacts string // folder
	command   campaign.Command
	build     []string
	args      []string // command line
	given     map[string]bool
}

var harnessFlags = []string{
	"profile", "seed", "seeds", "duration", "program", "shrink", "canary", "artifacts",
}

func wantsHarness(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-"), "-"), "=")
		return strings.HasPrefix(a, "-") && slices.Contains(harnessFlags, name)
	})
}

func parseHarness(args []string) (harnessing, error) {
	h := harnessing{profile: "smoke", artifacts: "artifacts", args: args, given: make(map[string]bool)}
	flags := cli.NewFlags()
	flags.StringVar(&h.profile, "profile", h.profile, "")
	flags.Uint64Var(&h.seed, "seed", 0, "")
	flags.IntVar(&h.seeds, "seeds", 0, "")
	flags.DurationVar(&h.duration, "duration", 0, "")
	flags.StringVar(&h.program, "program", "", "")
	flags.BoolVar(&h.shrink, "shrink", false, "")
	flags.StringVar(&h.mutant, "canary", "", "")
	flags.StringVar(&h.artifacts, "artifacts", h.artifacts, "")
	words, err := cli.ParseFlags(flags, args)
	flags.Visit(func(f *flag.Flag) { h.given[f.Name] = true })
	switch {
	case err != nil:
		return h, err
	case len(words) > 0:
		return h, fmt.Errorf("%q is too much; a program is played by -program %s", words[0], cli.Quote(words[0]))
	}
	if err := h.conflicts(); err != nil {
		return h, err
	}
	if !h.given["seed"] {
		h.seed = randomSeed()
	}
	return h, nil
}

func (h *harnessing) conflicts() error {
	_, known := campaign.Find(h.profile)
	both := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !h.given[n] })
	}
	switch {
	case !known:
		return fmt.Errorf("no profile is called %q; want %s", h.profile, profileNames())
	case h.seeds < 0 || h.given["seeds"] && h.seeds == 0:
		return fmt.Errorf("-seeds is %d; want 1 or more", h.seeds)
	case h.given["duration"] && h.duration <= 0:
		return fmt.Errorf("-duration is %v; want more than 0", h.duration)
	case h.given["program"] && h.program == "":
		return errors.New("-program wants a file")
	case h.given["canary"] && h.mutant == "":
		return errors.New("-canary wants the name of a fault, all or rare")
	case h.shrink && !h.given["program"]:
		return errors.New("-shrink goes with -program; what a profile finds is shrunk anyway")
	case h.given["artifacts"] && h.given["canary"] && !h.given["program"]:
		return errors.New("-canary writes no artifacts; omit -artifacts")
	}
	for _, pair := range [][2]string{
		{"program", "profile"},
		{"program", "seed"},
		{"program", "seeds"},
		{"program", "duration"},
		{"canary", "profile"},
		{"seeds", "duration"},
	} {
		if both(pair[0], pair[1]) {
			return fmt.Errorf("-%s and -%s do not go together", pair[0], pair[1])
		}
	}
	if both("program", "canary") && (h.mutant == allFaults || h.mutant == rareFaults) {
		return errors.New("-program goes with one canary, not with " + h.mutant)
	}
	return nil
}

func profileNames() string {
	var names []string
	for _, p := range campaign.Profiles {
		names = append(names, p.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// randomSeed returns a number with at most 31 bits, which is easy to copy.
func randomSeed() uint64 { return rand.Uint64N(1<<31) + 1 }

func (h *harnessing) lasts(d time.Duration) time.Duration {
	switch {
	case h.duration > 0:
		return h.duration
	case h.seeds > 0:
		return 0
	}
	return d
}

func (h *harnessing) title(p campaign.Profile) string {
	switch {
	case h.seeds > 0:
		return fmt.Sprintf("profile %s: %d random programs", p.Name, h.seeds)
	case h.duration > 0:
		return fmt.Sprintf("profile %s: random programs for %v", p.Name, h.duration)
	}
	return "profile " + p.Name + ": " + p.About
}

func (h *harnessing) line() string {
	args := h.args
	if h.program == "" && !h.given["seed"] {
		args = append(slices.Clip(args), "-seed", strconv.FormatUint(h.seed, 10))
	}
	return cli.CommandLine(goRun(h.build), args...)
}

func (h *harnessing) again(file string) string {
	args := []string{"-program", file}
	if h.mutant != "" {
		args = append(args, "-canary", h.mutant)
	}
	return cli.CommandLine(goRun(h.build), args...)
}

func goRun(flags []string) string {
	return strings.Join(append(append([]string{"go", "run"}, flags...), "./stress"), " ")
}

func (h *harnessing) how() campaign.How {
	return campaign.How{Command: h.command, Patience: patience(h.build)}
}

// patience returns the time limit of a program. The race detector and the
// checks slow programs down.
func patience(flags []string) time.Duration {
	switch {
	case slices.Contains(flags, "-race"):
		return 4 * time.Minute
	case len(flags) > 0:
		return 2 * time.Minute
	}
	return 30 * time.Second
}

func baseName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), programSuffix)
}
