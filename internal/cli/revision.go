package cli

import (
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
)

// Revision returns the revision of the build: from the build information or,
// because go run omits it, from git; or "unknown". A final + means changed
// files.
func Revision() string { return revision() }

var revision = sync.OnceValue(func() string {
	values := settings()
	if values["vcs.revision"] == "" {
		return fromGit()
	}
	return mark(values["vcs.revision"], values["vcs.modified"] == "true")
})

// BuildFlags returns the flags of go run that repeat this build.
func BuildFlags() []string { return flags(settings()) }

func flags(values map[string]string) (flags []string) {
	if values["-race"] == "true" {
		flags = append(flags, "-race")
	}
	if tags := values["-tags"]; tags != "" {
		flags = append(flags, "-tags", tags)
	}
	return flags
}

func settings() map[string]string {
	values := make(map[string]string)
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			values[s.Key] = s.Value
		}
	}
	return values
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
