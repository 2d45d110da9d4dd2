// Package layout has no code. Its tests state the architecture as data: allowed
// imports, and the dependencies of users.
package layout

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport lists the packages of this module that each package may import
// directly: without a line, none.
var mayImport = map[string][]string{
	"store":                     {"tasks", "internal/image", "batch", "shard", "store/internal/schedule", "internal/sparse", "handle", "internal/items", "internal/dense", "internal/paged", "internal/slotset", "internal/digest", "internal/report", "internal/check", "internal/highwater", "internal/seam", "internal/wire", "internal/entrance"},
	"store/storetest":           {"batch", "store"},
	"store/storeweb":            {"batch", "store", "internal/chart", "internal/report"},
	"tasks":                     {"internal/check", "internal/seam"},
	"store/internal/schedule":   {"tasks"},
	"journal":                   {"internal/check", "internal/entrance", "internal/lockfile"},
	"world":                     {"store", "tasks", "internal/entry", "internal/entrance", "internal/image", "internal/check", "internal/wire"},
	"history":                   {"journal", "world", "store", "store/storeweb", "internal/check", "internal/cli", "internal/digest", "internal/entry", "internal/entrance", "internal/image", "internal/localpage"},
	"world/logtest":             {"world"},
	"world/cmd/world":           {"journal", "world", "internal/cli", "internal/entry", "internal/entrance", "internal/image", "internal/report", "store"},
	"internal/entry":            {"internal/wire"},
	"internal/image":            {"internal/digest", "internal/wire", "handle"},
	"shard":                     {"batch", "internal/digest", "internal/sparse", "internal/dense", "internal/paged", "internal/items", "internal/slotset", "handle", "internal/highwater"},
	"batch":                     {"internal/digest", "internal/entrance", "internal/items", "handle", "internal/check", "internal/highwater"},
	"shard/handlemap":           {"internal/dense", "internal/items", "internal/slotset", "handle", "internal/check"},
	"shard/slotmap":             {"internal/paged", "internal/items", "internal/slotset", "handle", "internal/check"},
	"internal/slotset":          {"handle", "internal/digest", "internal/seam", "internal/check"},
	"internal/items":            {"internal/slotset", "internal/digest"},
	"internal/sparse":           {"internal/check", "internal/digest", "internal/items", "internal/dense", "internal/slotset", "handle"},
	"internal/dense":            {"internal/items", "internal/slotset", "internal/digest", "handle", "internal/check"},
	"internal/paged":            {"internal/items", "internal/slotset", "internal/digest", "handle", "internal/check"},
	"proof/maptest":             {"internal/check", "internal/seam", "internal/slotset", "handle"}, // for tests only
	"stress/kills":              {"internal/cli", "internal/entrance", "internal/report", "journal", "world", "proof/game", "proof/process"},
	"proof/game":                {"store", "world"},
	"proof/draw":                {"proof/script"},
	"proof/runner":              {"batch", "store", "handle", "internal/check", "internal/entrance", "internal/seam", "internal/slotset", "proof/draw", "proof/model", "proof/script"},
	"bench/internal/targets":    {"bench/internal/measure", "internal/report"},
	"bench/internal/results":    {"internal/cli", "bench/internal/measure", "bench/internal/targets", "internal/chart", "internal/report"},
	"bench/internal/suite":      {"bench/internal/measure", "internal/entrance", "journal", "store", "tasks", "handle", "shard/handlemap", "shard/slotmap", "internal/trace"},
	"guide/internal/swarm":      {"store", "tasks"},
	"view":                      {"store", "internal/check", "internal/entrance"},
	"guide/bank":                {"journal", "store", "world"},
	"guide/market":              {"history", "journal", "store", "world"},
	"guide":                     {"guide/internal/site", "internal/chart", "internal/cli"},
	"cluster":                   {"cluster/cells", "store", "world", "journal", "internal/check", "internal/entry", "internal/entrance", "internal/image", "internal/localpage", "internal/lockfile", "internal/wire"},
	"cluster/cells":             {"internal/check", "internal/digest", "internal/entrance", "internal/wire", "store", "world"},
	"cluster/cmd/arena":         {anything},
	"cluster/cmd/reseed":        {"cluster", "cluster/cells", "journal", "internal/cli", "internal/entrance"},
	"cluster/internal/audit":    {"store", "world"},
	"cluster/internal/localnet": {"internal/cli", "proof/process"},
	"cluster/internal/nemesis":  {"store", "journal", "world", "cluster", "cluster/internal/audit", "cluster/internal/localnet", "internal/cli", "internal/report", "proof/game", "proof/process"},
	"cluster/cmd/config":        {"cluster/internal/rights", "internal/cli"},
	"cluster/internal/rights":   {},
	"cluster/cmd/nemesis":       {"cluster/internal/localnet", "cluster/internal/nemesis", "internal/cli"},
	"stress":                    {anything},
	"bench":                     {anything},
}

const anything = "*"

// inherited is the only dependency of the library beyond the standard library.
const inherited = "golang.org/x/sync/errgroup"

var topLevel = []string{"batch", "bench", "cluster", "guide", "handle", "history", "internal", "journal", "proof", "shard", "store", "stress", "tasks", "view", "world"}

type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

// The engine is for the folders named here.
var engineUsers = map[string][]string{"batch": {"shard", "store", "proof"}, "shard": {"store", "proof"}}

// A stranger waits while the first command compiles. Without net/http it compiles 128 packages, not 236.
func TestStress_CompilesNoHTTP(t *testing.T) {
	if strings.Contains(goList(t, "-deps", "handloom/stress"), "net/http") {
		t.Error("stress imports net/http, want the smallest cold build")
	}
}

// maxPackages is the current count; a merge lowers it.
const maxPackages = 67

// modules are the patterns of the packages of both modules.
var modules = []string{"./...", "./cluster/..."}

func TestImports_FollowTheLayers(t *testing.T) {
	pkgs := list(t, modules...)
	if t.Logf("%d packages of %d", len(pkgs), maxPackages); len(pkgs) > maxPackages {
		t.Errorf("packages of both modules: got %d, want at most %d", len(pkgs), maxPackages)
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, "handloom/")
		public := slices.Contains(programAPI, name) || slices.Contains(engineAPI, name)
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, "handloom/")
			users, engine := engineUsers[imported]
			switch {
			case !ours:
			case !slices.Contains(mayImport[name], imported) && !slices.Contains(mayImport[name], anything),
				slices.Contains([]string{"stress", "bench", "guide"}, imported),
				public && slices.Contains([]string{"proof", "stress", "bench", "guide"}, room(imported)),
				engine && !slices.Contains(users, room(name)):
				t.Errorf("%s imports %s", name, imported)
			}
		}
	}
}

// A variable that another package sets would be an arrow without an import. Harnesses set only the
// variables of internal/seam.
func TestImports_AreTheOnlyArrows(t *testing.T) {
	eachFile(t, repository, func(file, text string) {
		for _, i := range re(`(?m)^(?:import )?\s*(\w*) ?"handloom/(?:\S+/)?(\w+)"$`).FindAllStringSubmatch(text, -1) {
			if set := re(`(?m)(?:^\t*|[,;{] )` + cmp.Or(i[1], i[2]) + `\.[A-Z][\w.]*(?:, [^=\n]*)? = `).FindString(text); set != "" && i[2] != "seam" {
				t.Errorf("%s: got %q, want no assignment to a variable of another package", file, strings.TrimSpace(set))
			}
		}
	}, isCode)
}

// room returns the top folder of a path in the repository.
func room(path string) string {
	top, _, _ := strings.Cut(path, "/")
	return top
}

func TestUsers_InheritOnlySync(t *testing.T) {
	for _, p := range list(t, "-deps", "./store/...", "./shard/...", "./batch/...", "./tasks/...", "./journal/...", "./world/...", "./history/...", "./cluster/cells") {
		if !p.Standard && !strings.HasPrefix(p.ImportPath, "handloom/") && p.ImportPath != inherited {
			t.Errorf("the library depends on %s", p.ImportPath)
		}
	}
}

// Dependencies of the module cluster do not reach users of the library.
func TestModule_HasNoServers(t *testing.T) {
	for _, p := range list(t, "-deps", "./...") {
		if strings.HasPrefix(p.ImportPath, "handloom/cluster") || strings.Contains(p.ImportPath, "nats") {
			t.Errorf("the root module depends on %s", p.ImportPath)
		}
	}
	mod, err := os.ReadFile("../../go.mod")
	noError(t, err)
	if strings.Contains(string(mod), "nats") || strings.Contains(string(mod), "cluster") {
		t.Error("go.mod names the servers of the module in cluster")
	}
}

func TestFolders_AreTheArchitecture(t *testing.T) {
	entries, err := os.ReadDir("../..")
	noError(t, err)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() || e.Name()[0] == '.' })
	if !slices.EqualFunc(entries, topLevel, func(e os.DirEntry, want string) bool { return e.Name() == want }) {
		t.Errorf("folders in the root are %v, want %v", entries, topLevel)
	}
}

// list returns packages by go list.
func list(t *testing.T, args ...string) (pkgs []pkg) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(goList(t, append([]string{"-json=ImportPath,Imports,Standard"}, args...)...))); d.More(); {
		var p pkg
		noError(t, d.Decode(&p))
		pkgs = append(pkgs, p)
	}
	if len(pkgs) == 0 {
		t.Fatal("go list found no package")
	}
	return pkgs
}

// goList returns the output of go list, run in the root. It may compile the tree.
func goList(t *testing.T, args ...string) string {
	t.Helper()
	skipShort(t)
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	noError(t, err)
	return string(out)
}

// skipShort skips a test that make lint runs.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("part of make lint")
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
