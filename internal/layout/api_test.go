package layout

import (
	"errors"
	"flag"
	"fmt"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var (
	programAPI = []string{"store", "store/storetest", "store/storeweb", "tasks", "handle", "shard/handlemap", "shard/slotmap", "journal", "world", "world/logtest", "history", "cluster", "cluster/cells", "view"}
	engineAPI  = []string{"batch", "shard"}
)

// Limits of exported names, including fields, and methods also of embedded types. They
// equal the current counts: a removal lowers them.
const (
	maxProgramNames = 745
	maxEngineNames  = 302
)

// The files in testdata/api have a line for each exported name of a package.
func TestGoldenAPI_MatchesPackages(t *testing.T) {
	files := exportFiles(t)
	for _, group := range []struct {
		name     string
		packages []string
		limit    int
	}{{"program API", programAPI, maxProgramNames}, {"engine", engineAPI, maxEngineNames}} {
		names := 0
		for _, dir := range group.packages {
			api := importAPI(t, files, dir)
			names += len(api)
			compareAPI(t, dir, api)
		}
		if t.Logf("%s: %d of %d", group.name, names, group.limit); names > group.limit {
			t.Errorf("%s: exported names, got %d, want at most %d", group.name, names, group.limit)
		}
	}
}

func compareAPI(t *testing.T, dir string, api []string) {
	t.Helper()
	name := filepath.Join("testdata", "api", strings.ReplaceAll(dir, "/", ".")+".txt")
	if *update {
		noError(t, os.WriteFile(name, []byte(strings.Join(api, "\n")+"\n"), 0o644))
		return
	}
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	golden := strings.Split(strings.TrimSpace(string(text)), "\n")
	var changes strings.Builder
	for _, line := range golden {
		if !slices.Contains(api, line) {
			fmt.Fprintf(&changes, "\n\t- %s", line)
		}
	}
	for _, line := range api {
		if !slices.Contains(golden, line) {
			fmt.Fprintf(&changes, "\n\t+ %s", line)
		}
	}
	if changes.Len() > 0 {
		t.Errorf("the API of %s changed:%s\n\tif users may see this, go test ./internal/layout -run GoldenAPI -update rewrites %s; add a line to CHANGELOG.md", dir, &changes, name)
	}
}

// importAPI returns the sorted lines of a package, from the export data of the compiler.
func importAPI(t *testing.T, files map[string]string, dir string) []string {
	t.Helper()
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	p, err := importer.ForCompiler(token.NewFileSet(), "gc", lookup).Import("handloom/" + dir)
	noError(t, err)
	a := api{p: p}
	for _, name := range p.Scope().Names() {
		if token.IsExported(name) {
			a.object(p.Scope().Lookup(name))
		}
	}
	slices.Sort(a.lines)
	return a.lines
}

// exportFiles returns the files of export data by import path.
func exportFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for line := range strings.Lines(goList(t, append([]string{"-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, modules...)...)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return files
}

type api struct {
	p     *types.Package
	lines []string
}

func (a *api) add(format string, args ...any) {
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

func (a *api) typ(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == a.p {
			return ""
		}
		return p.Name()
	})
}

func (a *api) signature(t types.Type) string { return strings.TrimPrefix(a.typ(t), "func") }

func (a *api) object(o types.Object) {
	switch o := o.(type) {
	case *types.Const:
		value := o.Val().ExactString()
		if o.Val().Kind() == constant.Float {
			value = o.Val().String()
		}
		a.add("const %s %s = %s", o.Name(), a.typ(o.Type()), value)
	case *types.Func:
		a.add("func %s%s", o.Name(), a.signature(o.Type()))
	case *types.TypeName:
		a.named(o)
	default:
		a.add("var %s %s", o.Name(), a.typ(o.Type()))
	}
}

// named adds a type and its members. An alias of a type has members only if the type is
// internal, because its package has no file.
func (a *api) named(o *types.TypeName) {
	if alias, is := o.Type().(*types.Alias); is {
		a.add("type %s = %s", o.Name(), a.typ(alias.Rhs()))
		if named, is := types.Unalias(alias.Rhs()).(*types.Named); is && named.Obj().Pkg() != nil && strings.Contains(named.Obj().Pkg().Path(), "/internal/") {
			a.members(o.Name(), named)
		}
		return
	}
	kind := a.typ(o.Type().Underlying())
	switch o.Type().Underlying().(type) {
	case *types.Struct:
		kind = "struct"
	case *types.Interface:
		kind = "interface"
	}
	a.add("type %s %s", a.typ(o.Type()), kind)
	a.members(o.Name(), o.Type())
}

func (a *api) members(name string, t types.Type) {
	methods := types.NewMethodSet(types.NewPointer(t))
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() {
				a.add("field %s.%s %s", name, f.Name(), a.typ(f.Type()))
			}
		}
	case *types.Interface:
		methods = types.NewMethodSet(t)
	}
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			a.add("method %s.%s%s", name, m.Obj().Name(), a.signature(m.Type()))
		}
	}
}
