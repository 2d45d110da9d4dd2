// Package built tells what a program was built from, and how, so that a run can
// be repeated.
package built

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
)

// Revision returns the revision that was built, as the toolchain noted it or,
// because go run notes none, as git says of the current folder; or "unknown". A +
// behind it means changed files.
func Revision() string { return revision() }

var revision = sync.OnceValue(func() string {
	of := settings()
	if of["vcs.revision"] == "" {
		return fromGit()
	}
	return mark(of["vcs.revision"], of["vcs.modified"] == "true")
})

// Flags returns the flags of go run that give the same program once more.
func Flags() []string { return flags(settings()) }

func flags(of map[string]string) (flags []string) {
	if of["-race"] == "true" {
		flags = append(flags, "-race")
	}
	if tags := of["-tags"]; tags != "" {
		flags = append(flags, "-tags", tags)
	}
	return flags
}

func settings() map[string]string {
	of := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			of[s.Key] = s.Value
		}
	}
	return of
}

func fromGit() string {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	changes, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output()
	return mark(strings.TrimSpace(string(head)), err != nil || len(changes) > 0)
}

func mark(revision string, changed bool) string {
	revision = revision[:min(12, len(revision))]
	if changed {
		revision += "+"
	}
	return revision
}
