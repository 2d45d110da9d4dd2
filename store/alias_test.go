package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"handloom/store"
)

var aliased = map[string]reflect.Type{
	"ID":          reflect.TypeFor[store.ID](),
	"Handle":      reflect.TypeFor[store.Handle[item]](),
	"PanicError":  reflect.TypeFor[store.PanicError](),
	"SystemError": reflect.TypeFor[store.SystemError](),
	"StaleError":  reflect.TypeFor[store.StaleError](),
}

func TestAlias_CommentListsItsMembers(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "alias.go", nil, parser.ParseComments)
	noError(t, err)
	seen := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		typ := aliased[spec.Name.Name]
		if typ == nil {
			t.Errorf("%s is an alias that the test does not know", spec.Name)
			return false
		}
		seen++
		equalLists(t, "list in the comment of "+spec.Name.Name, listedIn(spec.Doc.Text()), members(typ)...)
		return false
	})
	equal(t, "aliases of alias.go", seen, len(aliased))
}

var name = regexp.MustCompile(`^([A-Z]\w*)\b|, ([A-Z]\w*) \w+:`)

func listedIn(comment string) (names []string) {
	for line := range strings.Lines(comment) {
		line, isItem := strings.CutPrefix(line, "  - ")
		if !isItem {
			continue
		}
		for _, m := range name.FindAllStringSubmatch(line, -1) {
			names = append(names, m[1]+m[2])
		}
	}
	slices.Sort(names)
	return names
}

func members(t reflect.Type) (names []string) {
	var embedded []reflect.Type
	if t.Kind() == reflect.Struct {
		for f := range t.Fields() {
			switch {
			case f.Anonymous:
				embedded = append(embedded, f.Type)
			case f.IsExported():
				names = append(names, f.Name)
			}
		}
	}
	for m := range reflect.PointerTo(t).Methods() {
		if !slices.ContainsFunc(embedded, func(e reflect.Type) bool { return has(e, m) }) {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return names
}

func has(e reflect.Type, m reflect.Method) bool {
	own, ok := reflect.PointerTo(e).MethodByName(m.Name)
	return ok && slices.Equal(slices.Collect(own.Type.Ins())[1:], slices.Collect(m.Type.Ins())[1:]) &&
		slices.Equal(slices.Collect(own.Type.Outs()), slices.Collect(m.Type.Outs()))
}
