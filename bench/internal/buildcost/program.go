package buildcost

import (
	_ "embed"
	"fmt"
	"strings"
	"text/template"
)

// Source describes a generated program.
type Source struct {
	Tables int
	Every  bool // it uses every operation of a table, else the usual ones
	Apart  bool // another package registers the tables

	Columns int
}

func (p Source) String() string {
	ops, where := "few", ""
	if p.Every {
		ops = "every"
	}
	if p.Apart {
		where = "/apart"
	}
	return fmt.Sprintf("tables=%d/ops=%s%s", p.Tables, ops, where)
}

// Apparent folders of the generated packages, below the root of the module.
const (
	mainPath = "bench/internal/buildcost/generated"
	usePath  = mainPath + "/use"
	madePath = mainPath + "/made"
)

// files returns the files of the program. touched goes into the package that
// uses the tables, to force a build.
func (p Source) files(touched int64) map[string]string {
	view := struct {
		Source
		UsePath, MadePath string
		Touched           int64
	}{p, usePath, madePath, touched}
	file := func(name string) string {
		var b strings.Builder
		if err := program.ExecuteTemplate(&b, name, view); err != nil {
			panic(err)
		}
		return b.String()
	}
	all := map[string]string{mainPath + "/main.go": file("main"), usePath + "/use.go": file("use")}
	if p.Apart {
		all[madePath+"/made.go"] = file("made")
	}
	return all
}

//go:embed program.go.tmpl
var programText string

var program = template.Must(template.New("").Funcs(template.FuncMap{
	"fields":       fields,
	"columnFields": func(k int) string { return fields(100 + k) },
}).Parse(programText))

func fields(i int) string {
	kinds := []string{"uint64", "int32", "float64", "string", "[3]float32", "uint8", "[]byte", "*int", "bool", "int16"}
	var b strings.Builder
	for k := range 3 + i%5 {
		fmt.Fprintf(&b, "\tF%d %s\n", k, kinds[(i*7+k*3+i/10)%len(kinds)])
	}
	fmt.Fprintf(&b, "\tPad [%d]uint16\n", i+1)
	return b.String()
}
