package main

import (
	"archive/zip"
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var full = flag.Bool("full", false, "also a program with the module cluster, and the tests of both modules")

var sample = release{module: "example.org/handloom", version: "v0.1.0"}

func TestRewrite_ChangesPathsOfPackages(t *testing.T) {
	for _, c := range []struct{ file, from, to string }{
		{"a.go", "package a\n\nimport (\n\t\"handloom/store\"\n\t\"github.com/x/y\"\n)\n", "package a\n\nimport (\n\t\"example.org/handloom/store\"\n\t\"github.com/x/y\"\n)\n"},
		{
			"a.go", "package a\n\nconst c = \"handloom/\" + \"x: handloom/store.f, /src/handloom/a.go handloom-trace handloom.cell.\"\n",
			"package a\n\nconst c = \"example.org/handloom/\" + \"x: example.org/handloom/store.f, /src/handloom/a.go handloom-trace handloom.cell.\"\n",
		},
		{"Makefile", "release: ## x\n\tgo run ./internal/release\n\ntest:\n\tgo test -gcflags=handloom/...=-l\n", "test:\n\tgo test -gcflags=example.org/handloom/...=-l\n"},
		{"a.md", "`handloom` go mod edit -require handloom@v0.0.0 -replace handloom=../handloom\n", "`example.org/handloom` go get example.org/handloom@v0.1.0\n"},
		{"a.md", "go mod edit -require handloom/cluster@v0.0.0 -replace handloom/cluster=../handloom/cluster\n", "go get example.org/handloom/cluster@v0.1.0\n"},
		{"a.txt", "go run ./cluster/cmd/arena -dir /etc/handloom/x\ngo run handloom/world/cmd/world\n", "go run example.org/handloom/cluster/cmd/arena@v0.1.0 -dir /etc/handloom/x\ngo run example.org/handloom/world/cmd/world\n"},
		{"a.snap", "\x00handloom/store", "\x00handloom/store"},
		{"go.mod", "module handloom\n", "module example.org/handloom\n"},
		{
			"b/go.mod", "module handloom/b\n\nrequire (\n\tgithub.com/x/y v1.0.0\n\thandloom v0.0.0\n)\n\nreplace handloom => ../\n",
			"module example.org/handloom/b\n\nrequire (\n\texample.org/handloom v0.1.0\n\tgithub.com/x/y v1.0.0\n)\n",
		},
	} {
		got, err := sample.rewrite(c.file, []byte(c.from))
		if string(got) != c.to || err != nil {
			t.Errorf("%s: got %q, %v, want %q", c.file, got, err, c.to)
		}
	}
	for file, from := range map[string]string{
		"go.mod":               "replace other => ../other\n",
		"a.go":                 "package",
		"CHANGELOG.md":         "# Changes\n\n## v0.0.9\n",
		"guide/quick-start.md": "# Quick start\n",
	} {
		if got, err := sample.rewrite(file, []byte(from)); err == nil {
			t.Errorf("%s: got %q, want an error", file, got)
		}
	}
}

func TestRun_RefusesBadFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                                             `-module: got "", want a path that begins with a domain`,
		"-module handloom":                             `-module: got "handloom", want`,
		"-module example.org/a/":                       `-module: got "example.org/a/", want`,
		"-module example.org/a":                        `-version: got "", want v0.x.y or v1.x.y`,
		"x -module example.org/a":                      `got ["x"], want flags alone`,
		"-module example.org/a -version v2.0.0":        `-version: got "v2.0.0", want`,
		"-module example.org/a -version v1.2.3":        `-out: got nothing, want`,
		"-module example.org/a -version v1.2.3 -out .": `-out: . has files, want`,
	} {
		var stderr strings.Builder
		if code := run(strings.Fields(args), "../..", t.Output(), &stderr); code != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: got exit code %d and %q, want 2 and %q", args, code, stderr.String(), want)
		}
	}
}

func TestRelease_WorksOutsideTheWorkspace(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library under another path")
	}
	r := sample
	r.out = filepath.Join(t.TempDir(), "tree")
	var stdout strings.Builder
	if code := run([]string{"-module", r.module, "-version", r.version, "-out", r.out}, "../..", &stdout, t.Output()); code != 0 {
		t.Fatal("exit code", code)
	}
	if want := "git tag v0.1.0\ngit tag cluster/v0.1.0\n"; !strings.HasSuffix(stdout.String(), want) {
		t.Errorf("got %q, want the end %q", stdout.String(), want)
	}
	tree := os.DirFS(r.out)
	for _, name := range []string{"go.work", "internal/release", ".ci"} {
		if _, err := fs.Stat(tree, name); err == nil {
			t.Errorf("the release has %s", name)
		}
	}
	o := outside(t, r)
	cluster := filepath.Join(r.out, "cluster")
	for _, dir := range []string{cluster, filepath.Join(r.out, "guide", "ebiten")} {
		o.shell(t, dir, "go mod verify >/dev/null; go mod download "+r.module) // refuses wrong sums in go.sum
	}

	t.Run("quick start", func(t *testing.T) {
		page, err := fs.ReadFile(tree, "guide/quick-start.md")
		noError(t, err)
		commands, program := block(t, page, "sh"), block(t, page, "go store/example_readme_test.go")
		_, output, _ := strings.Cut(program, "// Output:\n")
		dir := t.TempDir()
		noError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644))
		o.shell(t, dir, commands)
		got := o.shell(t, dir, "go mod tidy && go run .")
		if want := strings.TrimSuffix(regexp.MustCompile(`(?m)^\s*// `).ReplaceAllString(output, ""), "}\n"); !strings.HasSuffix(got, want) {
			t.Errorf("the program of the page prints %q, want %q", got, want)
		}
	})
	if !*full {
		return
	}
	t.Run("node", func(t *testing.T) {
		page, err := fs.ReadFile(tree, "guide/several-machines.md")
		noError(t, err)
		_, page, _ = bytes.Cut(page, []byte("## A first node\n"))
		dir := t.TempDir()
		noError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(block(t, page, "go cluster/example_first_test.go")), 0o644))
		o.shell(t, dir, block(t, page, "sh"))
		if got := o.shell(t, dir, "go mod tidy && go run ."); !strings.HasSuffix(got, "1 goat\n") {
			t.Errorf("the program of the page prints %q, want 1 goat", got)
		}
	})
	for name, dir := range map[string]string{"root": r.out, "cluster": cluster} {
		t.Run(name, func(t *testing.T) {
			t.Log(o.shell(t, dir, "go mod tidy -diff && go vet ./... && go test -short ./..."))
		})
	}
}

// outsider runs commands outside the workspace, with the release on a local proxy.
type outsider struct{ env []string }

func outside(t *testing.T, r release) outsider {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOPROXY").Output()
	noError(t, err)
	words := strings.Fields(string(out))
	proxy := t.TempDir()
	serve(t, filepath.Join(proxy, r.module), r.out, r.module, r.version)
	serve(t, filepath.Join(proxy, r.module, "cluster"), filepath.Join(r.out, "cluster"), r.module+"/cluster", r.version)
	return outsider{append(os.Environ(), "GOWORK=off", "GOFLAGS=-trimpath -modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOMODCACHE="+t.TempDir(),
		fmt.Sprintf("GOPROXY=file://%s,file://%s/cache/download,%s", filepath.ToSlash(proxy), filepath.ToSlash(words[0]), words[1]))}
}

func (o outsider) shell(t *testing.T, dir, commands string) string {
	t.Helper()
	c := exec.Command("sh", "-ec", commands)
	c.Dir, c.Env = dir, o.env
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", commands, err, out)
	}
	return string(out)
}

// serve writes the module in dir into the folder of a proxy.
func serve(t *testing.T, proxy, dir, module, version string) {
	t.Helper()
	proxy = filepath.Join(proxy, "@v")
	noError(t, os.MkdirAll(proxy, 0o755))
	write := func(name, text string) { noError(t, os.WriteFile(filepath.Join(proxy, name), []byte(text), 0o644)) }
	write("list", version+"\n")
	write(version+".info", fmt.Sprintf("{%q: %q}", "Version", version))
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	noError(t, err)
	write(version+".mod", string(mod))
	f, err := os.Create(filepath.Join(proxy, version+".zip"))
	noError(t, err)
	z := zip.NewWriter(f)
	tree := os.DirFS(dir)
	noError(t, fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if _, err := fs.Stat(tree, name+"/go.mod"); name != "." && err == nil {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		w, err := z.Create(module + "@" + version + "/" + name)
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}))
	noError(t, z.Close())
	noError(t, f.Close())
}

// block returns the first block of code of a page in this language.
func block(t *testing.T, page []byte, language string) string {
	t.Helper()
	m := regexp.MustCompile("(?s)```" + regexp.QuoteMeta(language) + "\n(.*?)```").FindSubmatch(page)
	if m == nil {
		t.Fatalf("the page has no block %q", language)
	}
	return string(m[1])
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
