package layout

import (
	"go/ast"
	"go/types"
	"path"
	"strings"
	"testing"
)

var (
	programAPI = []string{"store", "store/storetest", "store/storeweb", "tasks", "shard/handle", "shard/handlemap", "shard/slotmap", "journal", "world", "world/logtest", "cluster", "cluster/cells"}
	engineAPI  = []string{"batch", "shard"}
)

// Limits of exported names, including fields and interface methods. They equal
// the current counts: a removal lowers them.
const (
	maxProgramNames = 676
	maxEngineNames  = 257
)

func TestPublicNames_StayWithinLimits(t *testing.T) {
	names := map[string]int{}
	eachFile(t, repository, func(file, text string) {
		names[path.Dir(file)] += publicNames(t, file, text)
	}, isCode)
	for _, api := range []struct {
		name     string
		packages []string
		limit    int
	}{{"program API", programAPI, maxProgramNames}, {"engine", engineAPI, maxEngineNames}} {
		all := 0
		for _, dir := range api.packages {
			t.Logf("%-16s %3d", dir, names[dir])
			if all += names[dir]; names[dir] == 0 {
				t.Errorf("%s has no exported name", dir)
			}
		}
		if t.Logf("%s: %d of %d", api.name, all, api.limit); all > api.limit {
			t.Errorf("%s: exported names, got %d, want at most %d", api.name, all, api.limit)
		}
	}
}

// publicNames counts the exported names, methods, fields and interface methods
// of a file.
func publicNames(t *testing.T, file, text string) (n int) {
	t.Helper()
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	_, parsed := parse(t, file, text)
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || ast.IsExported(strings.TrimPrefix(types.ExprString(d.Recv.List[0].Type), "*")) {
				count(d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.ValueSpec:
					count(s.Names...)
				case *ast.TypeSpec:
					if count(s.Name); !s.Name.IsExported() {
						continue
					}
					members := new(ast.FieldList)
					switch typ := s.Type.(type) {
					case *ast.StructType:
						members = typ.Fields
					case *ast.InterfaceType:
						members = typ.Methods
					}
					for _, m := range members.List {
						count(m.Names...)
					}
				}
			}
		}
	}
	return n
}

func TestExamples_ImportNoEngine(t *testing.T) {
	eachFile(t, repository, func(file, text string) {
		if strings.Contains(text, `"handloom/batch"`) || strings.Contains(text, `"handloom/shard"`) {
			t.Errorf("%s imports the engine", file)
		}
	}, func(file string) bool {
		page := room(file) == "guide" && strings.HasSuffix(file, ".md")
		example := strings.HasPrefix(path.Base(file), "example_") && strings.HasSuffix(file, "_test.go")
		return page || example && room(file) != "batch" && room(file) != "shard"
	})
}

func TestRooms_HoldAtMostTheirShare(t *testing.T) {
	const maxPercent = 20
	lines, all := map[string]int{}, 0
	eachFile(t, repository, func(file, text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[room(file)]++
				all++
			}
		}
	}, isCode)
	for room, n := range lines {
		percent := 100 * float64(n) / float64(all)
		if t.Logf("%-10s %5d code lines, %4.1f %%", room, n, percent); percent > maxPercent {
			t.Errorf("%s: got %.1f %% of the code lines, want at most %d", room, percent, maxPercent)
		}
	}
}
