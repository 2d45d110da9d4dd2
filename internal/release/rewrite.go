package main

import (
	"bytes"
	"fmt"
	"go/format"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// before is the module path in the repository.
const before = "handloom"

// rewrite returns the text of a file in the release.
func (r *release) rewrite(name string, text []byte) ([]byte, error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return text, nil
	}
	s := r.rewritePaths(string(text))
	switch {
	case path.Ext(name) == ".go":
		return format.Source([]byte(s)) // longer paths have another order and other columns
	case path.Base(name) == "go.mod":
		return r.rewriteModule(s)
	case path.Ext(name) == ".md" || path.Ext(name) == ".txt":
		s = r.rewriteCommands(s)
		if name == "CONTRIBUTING.md" {
			s, _, _ = strings.Cut(s, "\n## Release\n")
		}
		if name == "CHANGELOG.md" && !strings.Contains(s, "\n## "+r.version+"\n") {
			return nil, fmt.Errorf("got no heading %s, want the changes of this version", r.version)
		}
	case name == ".gitignore":
		s += "/go.work\n/go.work.sum\n"
	case name == "Makefile":
		s = strings.Replace(releaseTarget.ReplaceAllString(s, ""), " release release-check\n", "\n", 1)
	}
	for _, p := range phrases {
		if p.file != name {
			continue
		}
		if !strings.Contains(s, p.from) {
			return nil, fmt.Errorf("got no %q, want this text, which a release replaces", p.from)
		}
		s = strings.Replace(s, p.from, p.to, 1)
	}
	return []byte(s), nil
}

// packagePath matches the beginning of the path of a package, in code and text, and not
// a folder such as ../handloom/ or /etc/handloom/.
var packagePath = regexp.MustCompile(`(^|[^\w./~-])` + before + `/`)

func (r *release) rewritePaths(text string) string {
	return packagePath.ReplaceAllString(text, "${1}"+r.module+"/")
}

// rewriteModule rewrites a go.mod, whose paths of packages are rewritten.
func (r *release) rewriteModule(text string) ([]byte, error) {
	var lines []string
	block := 0 // index of its first line
	for line := range strings.Lines(text) {
		switch words := strings.Fields(line); {
		case len(words) == 2 && words[1] == before: // module handloom
			line = "module " + r.module + "\n"
		case len(words) == 2 && words[0] == before: // handloom v0.0.0
			line = "\t" + r.module + " " + r.version + "\n"
		case len(words) > 1 && words[0] == "replace" && words[1] == before:
			continue
		case len(words) > 0 && words[0] == "replace":
			return nil, fmt.Errorf("got %q, want no replace of another module", strings.TrimSpace(line))
		case strings.HasSuffix(line, "(\n"):
			block = len(lines) + 1
		case line == ")\n":
			slices.Sort(lines[block:])
		}
		lines = append(lines, line)
	}
	return []byte(strings.TrimRight(strings.Join(lines, ""), "\n") + "\n"), nil
}

var (
	replaced      = regexp.MustCompile(`go mod edit -require (\S+)@v0\.0\.0 -replace \S+`)
	clusterRun    = regexp.MustCompile(`go run \./(cluster/cmd/\w+)`)
	quotedModule  = regexp.MustCompile("`" + before + "`")
	releaseTarget = regexp.MustCompile(`(?m)^release(?:-check)?:.*\n(?:\t.*\n)+\n`)
)

// rewriteCommands rewrites the commands and names in a page or a help text. The root
// cannot run the programs in cluster by their folder without a workspace.
func (r *release) rewriteCommands(text string) string {
	text = clusterRun.ReplaceAllString(text, "go run "+r.module+"/$1@"+r.version)
	text = replaced.ReplaceAllString(text, "go get $1@"+r.version)
	text = strings.ReplaceAll(text, "go get "+before+"@", "go get "+r.module+"@")
	return quotedModule.ReplaceAllString(text, "`"+r.module+"`")
}

// phrases are texts about the repository that differ in a release.
var phrases = []struct{ file, from, to string }{
	{"README.md", "Point your module at a copy of this repository:", "Add it to yours:"},
	{"README.md", "go test -short ./cluster/...", "go -C cluster test -short ./..."},
	{"guide/quick-start.md", "In a folder next to a copy of this repository:", "In an empty folder:"},
	{"CONTRIBUTING.md", "joined by go.work:", "joined by a go.work that `go work init . ./cluster` writes:"},
}
