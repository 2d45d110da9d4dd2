package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
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
	serial := strings.Fields(strings.ReplaceAll(string(list[1]), "\\", ""))
	for _, dir := range serial {
		names, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
		noError(t, err)
		if len(names) == 0 {
			t.Errorf("%s has no file", dir)
		}
		for _, name := range names {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			noError(t, err)
			for _, i := range file.Imports {
				path := strings.Trim(i.Path.Value, `"`)
				ours, is := strings.CutPrefix(path, "handloom/")
				if is && !slices.Contains(serial, ours) && !slices.Contains(serialImports, ours) || slices.Contains(startingImports, path) {
					t.Errorf("%s imports %s, which may start goroutines", name, path)
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
		}
	}
}
