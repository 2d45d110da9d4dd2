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
	startingImports = []string{"golang.org/x/sync/errgroup", "net/http", "net/http/httptest", "os/exec", "os/signal", "testing/synctest"}
	serialImports   = []string{"batch", "internal/check", "internal/digest", "internal/seam", "proof/maptest"} // their tests may
)

// Packages that make race omits start no goroutine, in code or tests, and
// import only such packages of this module.
func TestMakefile_SerialPackagesAreSerial(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	noError(t, err)
	list := regexp.MustCompile(`(?m)^SERIAL = ((?:.*\\\n)*.*)`).FindSubmatch(text)
	if list == nil {
		t.Fatal("the Makefile has no SERIAL")
	}
	files := map[string]int{}
	for dir := range strings.FieldsSeq(strings.ReplaceAll(string(list[1]), "\\", "")) {
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
