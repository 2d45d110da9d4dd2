package main

import (
	"bytes"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"handloom/internal/cli"
	"handloom/proof/draw"
	"handloom/proof/runner"
	stressed "handloom/proof/script"
	"handloom/stress/internal/campaign"
)

const programSuffix = ".program"

// regress has the programs played first. Each reaches a rare state or once
// failed.
//
//go:embed testdata/regress/*.program
var regress embed.FS

func knownPrograms() ([]*stressed.Script, error) {
	entries, err := regress.ReadDir("testdata/regress")
	if err != nil {
		return nil, err
	}
	var all []*stressed.Script
	for _, e := range entries {
		text, err := regress.ReadFile("testdata/regress/" + e.Name())
		if err != nil {
			return nil, err
		}
		p, err := parseProgram(text, e.Name())
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func parseProgram(text []byte, name string) (*stressed.Script, error) {
	p, err := stressed.Parse(text, name)
	if err != nil {
		return nil, err
	}
	return p, runner.Check(p, name)
}

func loadProgram(file string) (*stressed.Script, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("stress: %w", err)
	}
	if isTrace(text) {
		return nil, &stressed.Error{File: file, Line: 1, Reason: "it is a trace, or compressed; a trace is replayed by: replay " + cli.Quote(file)}
	}
	return parseProgram(text, file)
}

func isTrace(text []byte) bool {
	const gzip = "\x1f\x8b"
	return bytes.HasPrefix(text, []byte("handloom-trace ")) || bytes.HasPrefix(text, []byte(gzip))
}

func defaultConfigs(seed uint64) []stressed.Config { return draw.Configs(seed, 4) }

type artifacts struct {
	program string // smallest program; "": not written
	whole   string // program as drawn
	detail  string // full findings
	again   string // command line that repeats the failure; "": none
	chance  bool   // the second play did not fail
	faults  []error
}

func keep(h harnessing, whole, small *campaign.Failure) artifacts {
	var a artifacts
	if err := os.MkdirAll(h.artifacts, 0o755); err != nil {
		a.faults = append(a.faults, err)
		return a
	}
	name := "seed" + strconv.FormatUint(whole.Program.Seed, 10)
	if h.program != "" {
		name = baseName(h.program) + "-again"
	}
	base := filepath.Join(h.artifacts, name)
	if a.program = a.write(base+programSuffix, small.Program.Text()); a.program != "" {
		a.again = h.again(a.program)
	}
	a.detail = a.write(base+".txt", []byte(small.Error()+"\n"))
	if small != whole {
		a.whole = a.write(base+"-whole"+programSuffix, whole.Program.Text())
	}
	return a
}

func (a *artifacts) write(file string, text []byte) string {
	if err := cli.WriteFile(file, text); err != nil {
		a.faults = append(a.faults, err)
		return ""
	}
	return file
}

func (a *artifacts) text() string {
	var b strings.Builder
	for _, f := range []struct{ what, file string }{
		{"program", a.program}, {"as it was drawn", a.whole}, {"what was found", a.detail},
	} {
		if f.file != "" {
			fmt.Fprintf(&b, "%s: %s\n", f.what, f.file)
		}
	}
	if a.again != "" {
		fmt.Fprintf(&b, "play it again: %s\n", a.again)
	}
	if a.chance {
		b.WriteString("played once more it did not fail: it depends on the order in which workers run\n")
	}
	return b.String()
}
