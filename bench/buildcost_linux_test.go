package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"
)

var buildCost = flag.Bool("build-cost", false, "let BenchmarkBuild build programs, for minutes")

// generated describes a program with item types of distinct shapes, because types of one shape share
// code. Go compiles generic code for every item type, so every program pays for a superfluous method,
// once per type.
type generated struct {
	Tables, Columns int
	Every           bool // it uses every operation of a table, else the usual ones
	Apart           bool // another package registers the tables
	Touched         int  // changes with each build
}

// Apparent folders of the generated packages, below the root of the module.
const (
	UsePath  = "bench/generated/use"
	MadePath = "bench/generated/made"
)

func (generated) UsePath() string  { return UsePath }
func (generated) MadePath() string { return MadePath }

// build builds a package of the program, by an overlay, and returns the binary and its build.
func (g generated) build(t testing.TB, dir, path string) (binary string, build *exec.Cmd) {
	t.Helper()
	program, err := template.New("program.go.tmpl").Funcs(template.FuncMap{
		"fields":       fields,
		"columnFields": func(k int) string { return fields(100 + k) },
	}).ParseFiles("testdata/program.go.tmpl")
	noError(t, err)
	root, err := filepath.Abs("..")
	noError(t, err)
	files := map[string]string{"main": "bench/generated", "use": UsePath}
	if g.Apart {
		files["made"] = MadePath
	}
	replace := map[string]string{}
	for name, path := range files {
		var text strings.Builder
		noError(t, program.ExecuteTemplate(&text, name, g))
		file := filepath.Join(dir, name+".go")
		noError(t, os.WriteFile(file, []byte(text.String()), 0o600))
		replace[filepath.Join(root, path, name+".go")] = file
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	noError(t, err)
	noError(t, os.WriteFile(filepath.Join(dir, "overlay"), overlay, 0o600))
	binary = filepath.Join(dir, "binary")
	build = exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay"), "-o", binary, "handloom/"+path)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary, build
}

func fields(i int) string {
	kinds := []string{"uint64", "int32", "float64", "string", "[3]float32", "uint8", "[]byte", "*int", "bool", "int16"}
	var b strings.Builder
	for k := range 3 + i%5 {
		fmt.Fprintf(&b, "\tF%d %s\n", k, kinds[(i*7+k*3+i/10)%len(kinds)])
	}
	fmt.Fprintf(&b, "\tPad [%d]uint16\n", i+1)
	return b.String()
}

// functions returns the number of functions compiled for the package that uses the tables. It is the
// same on every machine.
func (g generated) functions(t testing.TB) int {
	t.Helper()
	archive, _ := g.build(t, t.TempDir(), UsePath)
	names, err := exec.Command("go", "tool", "nm", archive).Output()
	noError(t, err)
	return strings.Count(string(names), " T ")
}

func TestBuild_FurtherTypesCostFewFunctions(t *testing.T) {
	for name, tt := range map[string]struct {
		one, three   generated
		least, limit int
	}{
		"table, usual operations": {generated{Tables: 1}, generated{Tables: 3}, 40, 125},
		"table, every operation":  {generated{Tables: 1, Every: true}, generated{Tables: 3, Every: true}, 40, 171},
		"column":                  {generated{Tables: 1, Columns: 1}, generated{Tables: 1, Columns: 3}, 20, 55},
	} {
		if each := (tt.three.functions(t) - tt.one.functions(t) + 1) / 2; each < tt.least || each > tt.limit {
			t.Errorf("a further %s: got %d functions, want %d to %d", name, each, tt.least, tt.limit)
		}
	}
}

// Builds after an edit of one line, with everything else compiled.
func BenchmarkBuild(b *testing.B) {
	if !*buildCost {
		b.Skip("make build-cost runs it")
	}
	programs := map[string]generated{"8/ops=few/apart": {Tables: 8, Apart: true}}
	for _, n := range []int{1, 8, 32} {
		programs[fmt.Sprintf("%d/ops=few", n)] = generated{Tables: n}
		programs[fmt.Sprintf("%d/ops=every", n)] = generated{Tables: n, Every: true}
	}
	for _, name := range slices.Sorted(maps.Keys(programs)) {
		b.Run("tables="+name, func(b *testing.B) {
			g, dir := programs[name], b.TempDir()
			g.build(b, dir, "bench/generated")
			var cpu time.Duration
			var peak, size int64
			for b.Loop() {
				g.Touched++
				binary, build := g.build(b, dir, "bench/generated")
				cpu += build.ProcessState.UserTime() + build.ProcessState.SystemTime()
				peak = max(peak, int64(build.ProcessState.SysUsage().(*syscall.Rusage).Maxrss))
				info, err := os.Stat(binary)
				noError(b, err)
				size = info.Size()
			}
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
			b.ReportMetric(float64(g.functions(b)), "functions")
			b.ReportMetric(float64(size)/(1<<20), "binary-MiB")
		})
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
