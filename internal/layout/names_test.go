package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	maxProgramNames = 641
	maxEngineNames  = 255
)

func TestPublicNames_StayWithinLimits(t *testing.T) {
	for _, api := range []struct {
		name     string
		packages []string
		limit    int
	}{{"program API", programAPI, maxProgramNames}, {"engine", engineAPI, maxEngineNames}} {
		all := 0
		for _, dir := range api.packages {
			names, fields := publicNames(t, filepath.Join("../..", dir))
			all += names + fields
			t.Logf("%-16s %3d, without fields %3d", dir, names+fields, names)
		}
		t.Logf("%s: %d of %d", api.name, all, api.limit)
		if all > api.limit {
			t.Errorf("%s: exported names, got %d, want at most %d", api.name, all, api.limit)
		}
	}
}

// publicNames counts the exported names and methods of a package, and the
// exported fields and interface methods.
func publicNames(t *testing.T, dir string) (names, fields int) {
	t.Helper()
	for _, file := range sources(t, dir) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		noError(t, err)
		for _, decl := range parsed.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d.Recv.List[0].Type))) {
					names++
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					n, f := specNames(spec)
					names, fields = names+n, fields+f
				}
			}
		}
	}
	return names, fields
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

func specNames(spec ast.Spec) (names, fields int) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		return exported(s.Names), 0
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return 0, 0
		}
		var members *ast.FieldList
		switch typ := s.Type.(type) {
		case *ast.StructType:
			members = typ.Fields
		case *ast.InterfaceType:
			members = typ.Methods
		default:
			return 1, 0
		}
		for _, m := range members.List {
			fields += exported(m.Names)
		}
		return 1, fields
	}
	return 0, 0
}

func exported(names []*ast.Ident) (n int) {
	for _, name := range names {
		if name.IsExported() {
			n++
		}
	}
	return n
}

// sources returns the Go files of a folder, without tests and files of other
// systems.
func sources(t *testing.T, dir string) (files []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no Go file in %s, %v", dir, err)
	}
	for _, file := range all {
		if !strings.HasSuffix(file, "_test.go") {
			files = append(files, file)
		}
	}
	return files
}

// libraryRooms are the packages that programs import.
var libraryRooms = []string{"store", "shard", "batch", "tasks", "journal", "world", "cluster", "cluster/cells", "shard/handle", "shard/handlemap", "shard/slotmap", "store/storetest", "store/storeweb"}

func TestLibrary_ImportsNoProofAndNoPrograms(t *testing.T) {
	room := map[string]bool{}
	for _, name := range libraryRooms {
		room["handloom/"+name] = true
	}
	for _, p := range list(t, "./...", "./cluster/...") {
		for _, path := range p.Imports {
			top, _, _ := strings.Cut(strings.TrimPrefix(path, "handloom/"), "/")
			switch top {
			case "proof", "stress", "bench", "guide":
				if room[p.ImportPath] {
					t.Errorf("%s imports %s", p.ImportPath, path)
				}
			}
		}
	}
}

func TestEngine_IsImportedByItsRoomsAlone(t *testing.T) {
	may := map[string][]string{"handloom/batch": {"shard", "store", "proof"}, "handloom/shard": {"store", "proof"}}
	for _, p := range list(t, "./...", "./cluster/...") {
		top, _, _ := strings.Cut(strings.TrimPrefix(p.ImportPath, "handloom/"), "/")
		for _, path := range p.Imports {
			if rooms, engine := may[path]; engine && !slices.Contains(rooms, top) {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		page := strings.HasPrefix(path, "../../guide/") && strings.HasSuffix(path, ".md")
		example := strings.HasPrefix(d.Name(), "example_") && strings.HasSuffix(path, "_test.go") && !strings.HasPrefix(path, "../../batch") && !strings.HasPrefix(path, "../../shard")
		if err != nil || !page && !example {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), `"handloom/batch"`) || strings.Contains(string(b), `"handloom/shard"`) {
			t.Errorf("%s imports the engine", path)
		}
		return err
	})
	noError(t, err)
}

// maxPackages is the current count; a merge lowers it.
const maxPackages = 62

func TestPackages_StayWithinLimit(t *testing.T) {
	if n := len(list(t, "./...", "./cluster/...")); n > maxPackages {
		t.Errorf("packages of both modules: got %d, want at most %d", n, maxPackages)
	} else {
		t.Logf("%d packages of %d", n, maxPackages)
	}
}

func TestRooms_HoldAtMostTheirShare(t *testing.T) {
	const maxPercent = 20
	lines, all := map[string]int{}, 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		room, _, _ := strings.Cut(strings.TrimPrefix(path, "../../"), "/")
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[room]++
				all++
			}
		}
		return err
	})
	noError(t, err)
	for room, n := range lines {
		t.Logf("%-10s %5d code lines, %4.1f %%", room, n, 100*float64(n)/float64(all))
		if 100*n > maxPercent*all {
			t.Errorf("%s: got %.1f %% of the code lines, want at most %d", room, 100*float64(n)/float64(all), maxPercent)
		}
	}
}
