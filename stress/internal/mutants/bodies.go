package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// source is a Go file, split at the bodies of its functions.
type source struct {
	pkg    string
	around []string // text before, between and after the bodies
	bodies []string // without braces
	guards []string // by body: its prefix
	silent []bool   // by body: no results
}

func parse(name, text string) (*source, error) {
	positions := token.NewFileSet()
	file, err := parser.ParseFile(positions, name, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s, end := &source{pkg: file.Name.Name}, 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		from, to := positions.Position(f.Body.Lbrace).Offset+1, positions.Position(f.Body.Rbrace).Offset
		s.around = append(s.around, text[end:from])
		s.bodies = append(s.bodies, text[from:to])
		s.silent = append(s.silent, f.Type.Results == nil)
		end = to
	}
	s.around = append(s.around, text[end:])
	s.guards = make([]string, len(s.bodies))
	return s, nil
}

// add prefixes each body with the patched body, guarded by a switch.
func (s *source) add(fault string, patched *source) error {
	if !slices.Equal(s.around, patched.around) {
		return fmt.Errorf("%s.patch: it changes more of a file than the bodies of functions", fault)
	}
	for i, body := range patched.bodies {
		if body != s.bodies[i] {
			s.guards[i] += s.guard(fault, i, body)
		}
	}
	return nil
}

func (s *source) guard(fault string, i int, body string) string {
	leave := ""
	if s.silent[i] {
		leave = "\nreturn"
	}
	return fmt.Sprintf("\nif %s == %q {%s%s\n}\n", switchName, fault, body, leave)
}

func (s *source) text() string {
	var b strings.Builder
	for i, body := range s.bodies {
		b.WriteString(s.around[i])
		b.WriteString(s.guards[i] + body)
	}
	b.WriteString(s.around[len(s.bodies)])
	return b.String()
}
