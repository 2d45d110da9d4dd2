package results

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"

	"handloom/bench/internal/targets"
	"handloom/internal/chart"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"left": func(column string) bool {
		return slices.Contains([]string{"op", "impl", "unit", "id", "work", ""}, column)
	},
}).Parse(pageHTML))

type pageView struct {
	*Run
	Style   template.CSS
	Says    string // number of targets met
	Charts  []template.HTML
	Targets *pageTable
	Table   pageTable
}

// pageTable is a table in groups of rows.
type pageTable struct {
	Title  string
	Head   []string
	Groups [][][]string
}

func (r *Run) WritePage(w io.Writer, reached []targets.Target) error {
	v := pageView{Run: r, Style: template.CSS(chart.Style + pageCSS), Table: pageTable{"Results", Head, r.Rows()}}
	for _, c := range charts(r) {
		v.Charts = append(v.Charts, template.HTML(chart.Figure(c))) // Figure escapes
	}
	if len(reached) > 0 {
		v.Targets = &pageTable{Title: "Targets", Head: targets.Head}
		for _, target := range reached {
			v.Targets.Groups = append(v.Targets.Groups, [][]string{target.Row()})
		}
		met, promised := targets.Met(reached)
		v.Says = fmt.Sprintf("%d of %d targets are met here.", met, promised)
	}
	return pageTemplate.Execute(w, v)
}
