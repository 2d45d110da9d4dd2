package layout

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const licensesFile = "../../LICENSES.txt"

type imported struct{ path, version, user, license, text string }

// LICENSES.txt has the licences of all modules that packages of this repository import,
// except in tests.
func TestLicenses_CoverImportedModules(t *testing.T) {
	byPath := map[string]*imported{}
	for _, group := range []struct {
		user     string
		packages []string
	}{
		{"the library", []string{"./batch", "./journal", "./shard/...", "./store/...", "./tasks", "./world/..."}},
		{"cluster", []string{"./cluster/..."}},
		{"programs", []string{"./..."}},
	} {
		for line := range strings.Lines(goList(t, append([]string{"-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}"}, group.packages...)...)) {
			words := strings.Fields(line)
			if len(words) != 3 || byPath[words[0]] != nil {
				continue
			}
			m := &imported{path: words[0], version: words[1], user: group.user, text: licenseText(t, words[2])}
			if m.license = licenseOf(m.text); m.license == "" {
				t.Errorf("%s: got another licence than Apache 2.0, BSD and MIT", m.path)
			}
			byPath[m.path] = m
		}
	}
	want := licenses(byPath)
	if *update {
		noError(t, os.WriteFile(licensesFile, []byte(want), 0o644))
	}
	if text, err := os.ReadFile(licensesFile); err != nil || string(text) != want {
		t.Errorf("%s differs from the imported modules (error %v); go test ./internal/layout -run Licenses -update rewrites it", licensesFile, err)
	}
}

func licenses(byPath map[string]*imported) string {
	var b strings.Builder
	b.WriteString("Licences of the modules that packages of Handloom import, except in tests.\n\n")
	texts := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		m := byPath[path]
		fmt.Fprintf(&b, "%-42s %-38s %-13s imported by %s\n", m.path, m.version, m.license, m.user)
		texts[m.text] = append(texts[m.text], path)
	}
	for _, text := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int { return strings.Compare(texts[a][0], texts[b][0]) }) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), strings.Join(texts[text], "\n"), text)
	}
	return b.String()
}

// licenseText returns the licence and notice files of a module.
func licenseText(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"LICENSE*", "COPYING*", "NOTICE*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		noError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			noError(t, err)
			var lines []string
			for line := range strings.Lines(string(text)) {
				lines = append(lines, strings.TrimRight(line, " \t\r\n"))
			}
			all = append(all, strings.Trim(strings.Join(lines, "\n"), "\n"))
		}
	}
	return strings.Join(all, "\n\n")
}

func licenseOf(text string) string {
	for _, l := range []struct{ phrase, name string }{
		{"Apache License", "Apache-2.0"},
		{"Permission is hereby granted, free of charge", "MIT"},
		{"Neither the name", "BSD-3-Clause"},
	} {
		if strings.Contains(strings.Join(strings.Fields(text), " "), l.phrase) {
			return l.name
		}
	}
	return ""
}
