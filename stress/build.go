package main

import (
	"runtime/debug"
	"strings"
)

// buildFlags returns the flags of go run that give this program once more.
func buildFlags() []string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	var flags []string
	for _, s := range info.Settings {
		switch {
		case s.Key == "-race" && s.Value == "true":
			flags = append(flags, "-race")
		case s.Key == "-tags" && s.Value != "":
			flags = append(flags, "-tags", s.Value)
		}
	}
	return flags
}

// goRun returns how a command line of the program begins, built with such flags.
func goRun(flags []string) string {
	return strings.Join(append(append([]string{"go", "run"}, flags...), "./stress"), " ")
}

// revision names the code that runs, as far as it knows.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	name, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			name = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return name + dirty
}
