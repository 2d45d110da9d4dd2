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

func TestProse_IsPlain(t *testing.T) {
	skipShort(t)
	total, units := &tally{}, map[string]*tally{}
	eachFile(t, repository, func(file, text string) {
		unit := file
		if isGo(file) {
			unit = path.Dir(file)
		}
		if units[unit] == nil {
			units[unit] = &tally{}
		}
		for _, s := range sentences(t, file, text) {
			units[unit].add(s)
			total.add(s)
		}
	}, all)
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		c := units[unit]
		t.Logf("%5.1f %%  %4d of %5d  %s", c.percent(), len(c.hits), c.all, unit)
		if *plain == "." || unit == *plain || strings.HasPrefix(unit, *plain+"/") {
			for _, s := range c.hits {
				t.Log(s)
			}
		}
		if c.percent() > maxInPackage {
			t.Errorf("%s: sentences with a habit, got %.1f %%, want at most %v, such as\n\t%v", unit, c.percent(), maxInPackage, c.hits[0])
		}
	}
	if p := total.percent(); p > maxInTree {
		t.Errorf("sentences with a habit, got %.1f %%, want at most %v", p, maxInTree)
	}
}

func TestProse_FindsOldSentences(t *testing.T) {
	for _, s := range []string{
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
	} {
		if len(habitsOf(s)) == 0 {
			t.Errorf("no habit found in %q", s)
		}
	}
}
