package source

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
)

// An Error is an exported error: a variable Err..., or a type ...Error.
type Error struct {
	Package string // the last element of its path
	Name    string
}

// A Panic is a call of panic.
type Panic struct {
	At   token.Position
	Text string   // source of the argument
	Says []string // fmt formats of the messages; none if Text is not a literal
}

// Found has the errors and panics of folders, in the order of their files.
type Found struct {
	Errors []Error
	Panics []Panic
}

// Find reads the Go files, except tests, of folders of the module in root. It ignores
// build tags.
func Find(root string, folders ...string) (Found, error) {
	var f Found
	for _, folder := range folders {
		if err := f.read(filepath.Join(root, folder)); err != nil {
			return Found{}, err
		}
	}
	return f, nil
}

func (f *Found) read(folder string) error {
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return strings.HasSuffix(n, "_test.go") })
	if len(names) == 0 {
		return &os.PathError{Op: "find Go files", Path: folder, Err: os.ErrNotExist}
	}
	set := token.NewFileSet()
	p := pkg{set: set, methods: make(map[string]*ast.FuncDecl)}
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

// pkg is a parsed package.
type pkg struct {
	set     *token.FileSet
	files   []*ast.File
	sources []string
	methods map[string]*ast.FuncDecl // by type: its Error or String method
}

func (p *pkg) add(file *ast.File, source string) {
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

func (p *pkg) errors() (all []Error) {
	for _, file := range p.files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				for _, name := range errorNames(spec) {
					all = append(all, Error{file.Name.Name, name})
				}
			}
		}
	}
	return all
}

var sentinel = regexp.MustCompile(`^Err[A-Z]`)

func errorNames(spec ast.Spec) (names []string) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, n := range s.Names {
			if sentinel.MatchString(n.Name) {
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

func (p *pkg) panics() (all []Panic) {
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
			all = append(all, Panic{p.set.Position(call.Pos()), text, p.says(arg)})
			return true
		})
	}
	return all
}

// says returns the formats of the messages of an expression.
func (p *pkg) says(e ast.Expr) []string {
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
		if format, ok := literal(e); ok {
			return []string{format}
		}
	}
	return nil
}

// methodSays returns the formats of the results of a method Error or String.
func (p *pkg) methodSays(f *ast.FuncDecl) (all []string) {
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
func literal(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		x, okX := literal(e.X)
		y, okY := literal(e.Y)
		return x + y, okX || okY
	}
	return "%v", false
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9.]*[a-zA-Z]`)

// Forms returns for each format an expression that matches its messages.
func (p Panic) Forms() (all []*regexp.Regexp) {
	for _, format := range p.Says {
		parts := verb.Split(format, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		all = append(all, regexp.MustCompile("^"+strings.Join(parts, ".+")+"$"))
	}
	return all
}
