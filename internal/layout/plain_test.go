package layout

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The standard library is the model for comments, pages and error texts.
//
//	go test ./internal/layout -run Prose -v            # percent for each package and page
//	go test ./internal/layout -run Prose -v -plain=DIR # all hits below DIR
var plain = flag.String("plain", "", "folder or page whose sentences with a habit TestProse_IsPlain lists")

// Limits in percent of the sentences. The standard library has 0.4.
const (
	maxInPackage = 2.0 // package or page
	maxInTree    = 1.0
)

type tally struct {
	all  int
	hits []sentence
}

func (c *tally) percent() float64 { return 100 * float64(len(c.hits)) / float64(max(c.all, 1)) }

func (c *tally) add(s sentence) {
	if c.all++; len(habitsOf(s.text)) > 0 {
		c.hits = append(c.hits, s)
	}
}

// measure returns the tally of the tree and of each package and page in it.
func measure(t *testing.T, tree fs.FS, wanted func(file string) bool) (total *tally, units map[string]*tally) {
	t.Helper()
	total, units = &tally{}, map[string]*tally{}
	eachFile(t, tree, func(file, text string) {
		unit := file
		if strings.HasSuffix(file, ".go") {
			unit = path.Dir(file)
		}
		if units[unit] == nil {
			units[unit] = &tally{}
		}
		for _, s := range sentences(t, file, text) {
			units[unit].add(s)
			total.add(s)
		}
	}, wanted)
	return total, units
}

// eachFile calls f for the wanted Go files and pages of a tree, without testdata.
func eachFile(t *testing.T, tree fs.FS, f func(file, text string), wanted func(file string) bool) {
	t.Helper()
	noError(t, fs.WalkDir(tree, ".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (d.Name() == "testdata" || d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || path.Ext(file) != ".go" && path.Ext(file) != ".md" || !wanted(file):
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		f(file, string(text))
		return err
	}))
}

var repository = os.DirFS("../..")

func all(string) bool { return true }

func isGo(file string) bool { return strings.HasSuffix(file, ".go") }

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

func isCode(file string) bool { return isGo(file) && !isTest(file) }

func parse(t *testing.T, file, text string) (*token.FileSet, *ast.File) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
	noError(t, err)
	return fset, f
}

// tooMany returns the units above their limit, sorted.
func tooMany(units map[string]*tally) (names []string) {
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if units[unit].percent() > maxInPackage {
			names = append(names, unit)
		}
	}
	return names
}

func TestProse_IsPlain(t *testing.T) {
	skipShort(t)
	total, units := measure(t, repository, all)
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		c := units[unit]
		t.Logf("%5.1f %%  %4d of %5d  %s", c.percent(), len(c.hits), c.all, unit)
		if *plain == "." || unit == *plain || strings.HasPrefix(unit, *plain+"/") {
			for _, s := range c.hits {
				t.Log(s)
			}
		}
	}
	for _, unit := range tooMany(units) {
		t.Errorf("%s: sentences with a habit, got %.1f %%, want at most %v, such as\n\t%v", unit, units[unit].percent(), maxInPackage, units[unit].hits[0])
	}
	if p := total.percent(); p > maxInTree {
		t.Errorf("sentences with a habit, got %.1f %%, want at most %v", p, maxInTree)
	}
}

// Ten sentences of the old kind among 400 plain ones are above the limit, as
// comments, error texts and a page.
func TestProse_OldSentencesFail(t *testing.T) {
	skipShort(t)
	old := []string{
		"What spinning workers look at lies apart from the rest.",
		"Close returns what is left of the batch.",
		"Applied is called behind each tick that a world applies.",
		"Whoever breaks the rule is told about it.",
		"The flush goes on with the tables of another one.",
		"It is open what became of the record.",
		"A table of no rows comes to the same, for it is empty.",
		"Of two worlds that write, one takes its turn.",
		"Columns are no part of it but for the first.",
		"Some items have none, and so does the table.",
	}
	for _, s := range old {
		if len(habitsOf(s)) == 0 {
			t.Errorf("no habit found in %q", s)
		}
	}
	for form, write := range map[string]func(s string) string{
		"comments":    func(s string) string { return "// " + s + "\n" },
		"error texts": func(s string) string { return "var _ = errors.New(\"" + s + "\")\n" },
		"page":        func(s string) string { return "- " + s + "\n" },
	} {
		t.Run(form, func(t *testing.T) {
			file, text := "store/x.go", "package store\n\n"
			if form == "page" {
				file, text = "guide/x.md", "# Page\n"
			}
			text += strings.Repeat(write("Flush applies the commands of all queues."), 400)
			for i, s := range old {
				text += write(s)
				if i != 7 && i != 9 {
					continue
				}
				_, units := measure(t, fstest.MapFS{file: {Data: []byte(text)}}, all)
				if failed := len(tooMany(units)) > 0; failed != (i == 9) {
					t.Errorf("%d old sentences: got failed=%v, want %v", i+1, failed, i == 9)
				}
			}
		})
	}
}
