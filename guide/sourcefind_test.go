package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// An errorName is an exported error: a variable Err..., or a type ...errorName.
type errorName struct {
	Package string // the last element of its path
	Name    string
}

// A panicCall is a call of panic.
type panicCall struct {
	At   token.Position
	Text string   // source of the argument
	Says []string // fmt formats of the messages; none if Text is not a literal
}

// foundNames has the errors and panics of folders, in the order of their files.
type foundNames struct {
	Errors []errorName
	Panics []panicCall
}

// findNames reads the Go files, except tests, of folders of the module in root. It ignores
// build tags.
func findNames(root string, folders ...string) (foundNames, error) {
	var f foundNames
	for _, folder := range folders {
		if err := f.read(filepath.Join(root, folder)); err != nil {
			return foundNames{}, err
		}
	}
	return f, nil
}

func (f *foundNames) read(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, "_test.go") })
	if len(names) == 0 {
		return &os.PathError{Op: "find Go files", Path: folder, Err: os.ErrNotExist}
	}
	set := token.NewFileSet()
	p := parsedPackage{set: set, methods: make(map[string]*ast.FuncDecl)}
	for _, name := range names {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		p.add(file, string(source))
	}
	f.Errors = append(f.Errors, p.errors()...)
	f.Panics = append(f.Panics, p.panics()...)
	return nil
}

// parsedPackage is a parsed package.
type parsedPackage struct {
	set     *token.FileSet
	files   []*ast.File
	sources []string
	methods map[string]*ast.FuncDecl // by type: its Error or String method
}

func (p *parsedPackage) add(file *ast.File, source string) {
	p.files = append(p.files, file)
	p.sources = append(p.sources, source)
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && (f.Name.Name == "Error" || f.Name.Name == "String") {
			p.methods[baseName(f.Recv.List[0].Type)] = f
		}
	}
}

// baseName returns the name of a type without pointer and type arguments.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	}
	return ""
}

func (p *parsedPackage) errors() (all []errorName) {
	for _, file := range p.files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range errorNames(spec) {
					all = append(all, errorName{file.Name.Name, name})
				}
			}
		}
	}
	return all
}

var sentinelName = regexp.MustCompile(`^Err[A-Z]`)

func errorNames(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if sentinelName.MatchString(n.Name) {
				names = append(names, n.Name)
			}
		}
	case *ast.TypeSpec:
		if s.Name.IsExported() && strings.HasSuffix(s.Name.Name, "Error") {
			names = append(names, s.Name.Name)
		}
	}
	return names
}

func (p *parsedPackage) panics() (all []panicCall) {
	for i, file := range p.files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			if name, ok := call.Fun.(*ast.Ident); !ok || name.Name != "panic" {
				return true
			}
			arg := call.Args[0]
			text := p.sources[i][p.set.Position(arg.Pos()).Offset:p.set.Position(arg.End()).Offset]
			all = append(all, panicCall{p.set.Position(call.Pos()), text, p.says(arg)})
			return true
		})
	}
	return all
}

// says returns the formats of the messages of an expression.
func (p *parsedPackage) says(e ast.Expr) []string {
	switch e := e.(type) {
	case *ast.CallExpr:
		if s, ok := e.Fun.(*ast.SelectorExpr); ok && len(e.Args) > 0 && (s.Sel.Name == "Sprintf" || s.Sel.Name == "Errorf") {
			return p.says(e.Args[0])
		}
	case *ast.UnaryExpr:
		return p.says(e.X)
	case *ast.CompositeLit:
		return p.methodSays(p.methods[baseName(e.Type)])
	case *ast.BasicLit, *ast.BinaryExpr:
		if format, ok := literalText(e); ok {
			return []string{format}
		}
	}
	return nil
}

// methodSays returns the formats of the results of a method Error or String.
func (p *parsedPackage) methodSays(f *ast.FuncDecl) (all []string) {
	if f == nil {
		return nil
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		if r, ok := n.(*ast.ReturnStmt); ok && len(r.Results) == 1 {
			all = append(all, p.says(r.Results[0])...)
		}
		return true
	})
	return all
}

// literal returns the text of a literal or a concatenation, with %v for other operands.
func literalText(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		x, okX := literalText(e.X)
		y, okY := literalText(e.Y)
		return x + y, okX || okY
	}
	return "%v", false
}

var formatVerb = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-zA-Z]`)

// forms returns for each format an expression that matches its messages.
func (p panicCall) forms() (all []*regexp.Regexp) {
	for _, format := range p.Says {
		parts := formatVerb.Split(format, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		all = append(all, regexp.MustCompile("^"+strings.Join(parts, ".+")+"$"))
	}
	return all
}

const sampleSource = `package sample

var (
	ErrFull, errOwn = 1, 2
	Errand          = ErrFull
)

type BadError struct{}
type hiddenError struct{}

type kept struct{ what string }

func (k *kept) Error() string { return fmt.Sprintf("sample: %s was kept", k.what) }

func f(n int, what string) {
	panic(fmt.Sprintf("sample: f of %d items, %+v", n, what))
	panic("sample: " + what + " twice")
	panic(&kept{"it"})
	panic(wrapped(n))
	fmt.Println("panic")
}
`

func TestFindNames_ListsErrorsAndPanics(t *testing.T) {
	root := t.TempDir()
	wrong := os.CopyFS(root, fstest.MapFS{"sample/sample.go": {Data: []byte(sampleSource)}, "sample/sample_test.go": {Data: []byte("package sample\nvar ErrTest = 1\n")}})
	f, err := findNames(root, "sample")
	if wrong != nil || err != nil {
		t.Fatal(wrong, err)
	}
	if want := []errorName{{"sample", "ErrFull"}, {"sample", "BadError"}}; !slices.Equal(f.Errors, want) {
		t.Errorf("errors %v, want %v", f.Errors, want)
	}
	for i, says := range []string{
		"sample: f of 7 items, {A:1}",
		"sample: Sort twice",
		"sample: it was kept",
	} {
		if form := f.Panics[i].forms()[0]; !form.MatchString(says) {
			t.Errorf("%v does not match %q", form, says)
		}
	}
	if len(f.Panics) != 4 || len(f.Panics[3].Says) != 0 || f.Panics[3].Text != "wrapped(n)" || f.Panics[3].At.Line != 19 {
		t.Errorf("panics %+v", f.Panics)
	}
	if form := f.Panics[1].forms()[0]; form.MatchString("sample: Sort twice, and more") {
		t.Errorf("%v matches too much", form)
	}
	if _, err := findNames(root, "none"); err == nil {
		t.Error("Find of an empty folder returned no error")
	}
}
