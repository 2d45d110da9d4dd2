package main

import (
	"flag"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handloom/guide/internal/site"
)

var update = flag.Bool("update", false, "rewrite the code in the pages")

// pageFiles returns the paths of the pages and of the README in the root.
func pageFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return append(files, "../README.md")
}

func TestPages_ShowCodeOfTheirFiles(t *testing.T) {
	for _, file := range pageFiles(t) {
		page := string(readFile(t, file))
		want, err := fillPage(page, func(file string) (string, error) {
			text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
			return string(text), err
		})
		switch {
		case err != nil:
			t.Errorf("%s: %v", file, err)
		case want == page:
		case *update:
			noError(t, os.WriteFile(file, []byte(want), 0o644))
		default:
			t.Errorf("%s differs from the code of its files; go test ./guide -update rewrites it", file)
		}
	}
}

// A reader of one page can run its whole programs.
func TestPages_ProgramsHaveASetUp(t *testing.T) {
	programs := 0
	for _, file := range pageFiles(t) {
		page := string(readFile(t, file))
		if before, _, found := strings.Cut(page, "\npackage main\n"); found {
			if programs++; !strings.Contains(before, "go mod init") && !strings.Contains(page, "quick-start.md") {
				t.Errorf("%s has a program, want go mod init before it, or a link to quick-start.md", file)
			}
		}
	}
	if programs < 8 {
		t.Errorf("got %d pages with programs, want 8 or more", programs)
	}
}

// The tables and the machine of benchmarks.md are parts of bench/results.md.
func TestBenchmarksPage_ShowsResultsFile(t *testing.T) {
	file, shown := string(readFile(t, "../bench/results.md")), 0
	for line := range strings.Lines(string(readFile(t, "benchmarks.md"))) {
		cells, isRow := strings.CutPrefix(line, "| ")
		if !isRow && !strings.HasPrefix(line, "go1.") || strings.HasPrefix(cells, "---") || strings.HasPrefix(cells, "--:") {
			continue
		}
		if shown++; isRow && !strings.Contains(file, " | "+cells) || !isRow && !strings.Contains(file, strings.TrimSpace(line)) {
			t.Errorf("bench/results.md lacks %s", line)
		}
	}
	if shown < 30 {
		t.Errorf("got %d lines, want 30 or more", shown)
	}
}

// go test compiles an example without an output, but does not run it.
func TestExamples_HaveOutput(t *testing.T) {
	files, err := filepath.Glob("example_*_test.go")
	noError(t, err)
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		noError(t, err)
		for _, e := range doc.Examples([]*ast.File{f}...) {
			if e.Output == "" {
				t.Errorf("%s: Example%s has no output", file, e.Name)
			}
		}
	}
}

func read(t *testing.T) *site.Guide {
	t.Helper()
	g, err := site.Read(os.DirFS("."))
	noError(t, err)
	return g
}

// inCode matches a file or folder of the repository in a page.
var inCode = regexp.MustCompile("`((?:batch|bench|cluster|guide|internal|journal|proof|shard|store|stress|tasks|world)/[a-zA-Z0-9_/.*]+)`")

func TestPages_NameExistingFiles(t *testing.T) {
	for _, file := range append(pageFiles(t), "../bench/README.md") {
		for _, m := range inCode.FindAllStringSubmatch(string(readFile(t, file)), -1) {
			here, _ := filepath.Glob(filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1])))
			fromRoot, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(m[1])))
			if err != nil || len(here)+len(fromRoot) == 0 {
				t.Errorf("%s names %s, which does not exist", file, m[1])
			}
		}
	}
}

// named matches a page in the comment of a Go file.
var named = regexp.MustCompile(`guide/([a-z-]+\.md)`)

// Pages named in comments exist, and each public package names one.
func TestComments_NameExistingPages(t *testing.T) {
	library, public := library(t)
	for _, folder := range library {
		files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
		noError(t, err)
		names := 0
		for _, file := range files {
			for _, m := range named.FindAllSubmatch(readFile(t, file), -1) {
				names++
				if _, err := os.Stat(string(m[1])); err != nil {
					t.Errorf("%s names a missing page: %v", file, err)
				}
			}
		}
		if names == 0 && slices.Contains(public, folder) {
			t.Errorf("no comment of package %s names a page of the guide", folder)
		}
	}
}

// A link leads to a page, a section or a file of the repository.
func TestLinks_LeadToPagesOrFiles(t *testing.T) {
	sections := make(map[string][]string)
	g := read(t)
	for _, p := range g.Pages {
		for _, s := range p.Sections {
			sections[p.File] = append(sections[p.File], s.ID)
		}
	}
	check := func(from string, l site.Link) {
		to := l.To
		if to == "" {
			to = from
		}
		ids, page := sections[to]
		_, err := os.Stat(filepath.FromSlash(to))
		switch {
		case strings.Contains(to, ":"):
			t.Errorf("%s links to %s, which is outside the repository", from, to)
		case page && l.Anchor != "" && !slices.Contains(ids, l.Anchor):
			t.Errorf("%s links to %s#%s; the sections are %q", from, to, l.Anchor, ids)
		case !page && l.Anchor != "":
			t.Errorf("%s links to %s#%s, not a page of the guide", from, to, l.Anchor)
		case err != nil:
			t.Errorf("%s links to %s: %v", from, to, err)
		}
	}
	for _, p := range g.Pages {
		for _, l := range p.Links {
			check(p.File, l)
		}
	}
	front, err := site.Parse("../README.md", readFile(t, "../README.md"))
	noError(t, err)
	for _, l := range front.Links {
		if guide, ok := strings.CutPrefix(l.To, "guide/"); ok && guide != "" {
			l.To = guide
		} else if l.To != "" {
			l.To = "../" + l.To
		}
		check("../README.md", l)
	}
}

// library returns the folders of all packages that users import, directly or not, and
// the public ones among them.
func library(t *testing.T) (all, public []string) {
	t.Helper()
	all = []string{"cluster", "cluster/cells"} // without a workspace go list does not find this module
	list := exec.Command("go", "list", "-deps", "-f", "{{if and (not .Standard) .Module.Main}}{{.Dir}}{{end}}",
		"./batch/...", "./journal/...", "./shard/...", "./store/...", "./tasks/...", "./view/...", "./world/...", "./history")
	list.Dir = ".."
	out, err := list.Output()
	root, wrong := filepath.Abs("..")
	if err != nil || wrong != nil {
		t.Fatal(err, wrong)
	}
	for dir := range strings.FieldsSeq(string(out)) {
		folder, err := filepath.Rel(root, dir)
		noError(t, err)
		all = append(all, filepath.ToSlash(folder))
	}
	return all, slices.DeleteFunc(slices.Clone(all), func(f string) bool { return strings.Contains("/"+f, "/internal/") })
}

// computed maps panics without a literal message to the section that explains them.
var computed = map[string]string{
	"shard.NewStaleError(h.ID)":    "StaleError",
	"m.NewStaleError(h.ID)":        "StaleError",
	"m.dense.NewStaleError(h.ID)":  "StaleError",
	"m.stable.NewStaleError(h.ID)": "StaleError",
	"err":                          "ErrBroken", // a plan that fails

	`y.undeclared("calls "+method+" of", t, "Reads")`:          "ErrPhase",
	`y.undeclaredComponent("calls "+method+" of", p, "Reads")`: "ErrPhase",
}

// The pages explain exactly the exported errors and the messages of panics.
func TestErrorsAndPanics_AreExplained(t *testing.T) {
	library, public := library(t)
	exported, err := findNames("..", public...)
	noError(t, err)
	all, err := findNames("..", library...)
	noError(t, err)
	g := read(t)
	pages := make(map[string]*site.Page)
	for _, p := range g.Pages {
		pages[p.File] = p
	}
	headings := make(map[string]bool) // sections of errors.md; true if the library has the error
	for _, s := range pages["errors.md"].Sections[1:] {
		if name := s.Heading[strings.LastIndex(s.Heading, ".")+1:]; strings.HasPrefix(name, "Err") || strings.HasSuffix(name, "Error") {
			headings[s.Heading] = false
		}
	}
	for _, e := range exported.Errors {
		heading := e.Name
		if slices.Contains([]string{"journal", "world", "history", "cluster", "cells"}, e.Package) {
			heading = e.Package + "." + e.Name
		}
		if _, ok := headings[heading]; !ok {
			t.Errorf("errors.md has no section %s", heading)
		}
		headings[heading] = true
	}
	for _, heading := range slices.Sorted(maps.Keys(headings)) {
		if !headings[heading] {
			t.Errorf("errors.md explains %s, which the library does not export", heading)
		}
	}

	explained := make(map[string]bool) // messages of panics.md; true if the library has them
	for _, b := range pages["panics.md"].Blocks {
		for line := range strings.Lines(b.Text) {
			explained[strings.TrimSuffix(line, "\n")] = false
		}
	}
	for _, p := range all.Panics {
		if len(p.Says) == 0 {
			if heading, ok := computed[p.Text]; !ok || !headings[heading] {
				t.Errorf("%v: nothing explains panic(%s)", p.At, p.Text)
			}
			continue
		}
		for _, form := range p.forms() {
			explains := false
			for message := range explained {
				if form.MatchString(message) {
					explained[message], explains = true, true
				}
			}
			if !explains {
				t.Errorf("%v: panics.md has no message of the form %v", p.At, form)
			}
		}
	}
	for _, message := range slices.Sorted(maps.Keys(explained)) {
		if !explained[message] {
			t.Errorf("panics.md explains a message that the library does not have: %s", message)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// testName matches a test in a page.
var testName = regexp.MustCompile("`(Test\\w+)`")

// Tests named in pages exist. Each row of losses.md names one.
func TestPages_NameExistingTests(t *testing.T) {
	var tests strings.Builder
	noError(t, filepath.WalkDir("..", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, "_test.go") {
			tests.Write(readFile(t, file))
		}
		return err
	}))
	rows := 0
	for _, file := range pageFiles(t) {
		for line := range strings.Lines(string(readFile(t, file))) {
			names := testName.FindAllStringSubmatch(line, -1)
			for _, m := range names {
				if !strings.Contains(tests.String(), "\nfunc "+m[1]+"(t *testing.T) {") {
					t.Errorf("%s names %s, which does not exist", file, m[1])
				}
			}
			if file == "losses.md" && strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| loss |") {
				if rows++; len(names) != 1 || strings.Count(line, " | ") != 3 || !strings.HasSuffix(line, "` |\n") {
					t.Errorf("no test of the row %q", line)
				}
			}
		}
	}
	if rows < 15 {
		t.Errorf("got %d rows", rows)
	}
}
