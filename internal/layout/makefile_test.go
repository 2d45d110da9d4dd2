package layout

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The calls and packages that start goroutines without a go statement.
var (
	startingCalls   = []string{"AfterFunc", "Go", "Parallel", "RunParallel", "AddCleanup", "SetFinalizer"}
	startingImports = []string{"golang.org/x/sync/errgroup", "net/http", "net/http/httptest", "os/signal", "testing/synctest"}
	serialImports   = []string{"batch", "internal/check", "internal/cli", "internal/digest", "internal/seam", "proof/maptest"} // their tests may
)

// words returns the words of a variable of the Makefile.
func words(t *testing.T, variable string) []string {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	noError(t, err)
	list := regexp.MustCompile(`(?m)^` + variable + ` = ((?:.*\\\n)*.*)`).FindSubmatch(text)
	if list == nil {
		t.Fatalf("the Makefile has no %s", variable)
	}
	return strings.Fields(strings.ReplaceAll(string(list[1]), "\\", ""))
}

// Packages that make race omits start no goroutine, in code or tests, and
// import only such packages of this module.
func TestMakefile_SerialPackagesAreSerial(t *testing.T) {
	files := map[string]int{}
	for _, dir := range words(t, "SERIAL") {
		files[dir] = 0
	}
	eachFile(t, repository, func(name, text string) {
		files[path.Dir(name)]++
		_, file := parse(t, name, text)
		for _, i := range file.Imports {
			imported := strings.Trim(i.Path.Value, `"`)
			ours, is := strings.CutPrefix(imported, "handloom/")
			_, serial := files[ours]
			if is && !serial && !slices.Contains(serialImports, ours) || slices.Contains(startingImports, imported) {
				t.Errorf("%s imports %s, which may start goroutines", name, imported)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			_, starts := n.(*ast.GoStmt)
			if call, is := n.(*ast.CallExpr); is {
				method, is := call.Fun.(*ast.SelectorExpr)
				starts = is && slices.Contains(startingCalls, method.Sel.Name)
			}
			if starts {
				t.Errorf("%s starts goroutines", name)
			}
			return true
		})
	}, func(name string) bool {
		_, serial := files[path.Dir(name)]
		return serial && isGo(name)
	})
	for dir, n := range files {
		if n == 0 {
			t.Errorf("%s has no file", dir)
		}
	}
}

// A renamed test would run under the race detector again, and no longer in full size.
func TestMakefile_NamesTests(t *testing.T) {
	absent := map[string]bool{}
	for _, name := range slices.Concat(words(t, "UNRACED"), words(t, "FULL")) {
		name, _, _ = strings.Cut(name, "/") // a case
		absent[name] = true
	}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	eachFile(t, repository, func(_, text string) {
		for _, test := range declared.FindAllStringSubmatch(text, -1) {
			delete(absent, test[1])
		}
	}, isTest)
	for name := range absent {
		t.Errorf("no test is called %s", name)
	}
}
