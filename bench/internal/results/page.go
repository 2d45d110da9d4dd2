package results

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"handloom/bench/internal/targets"
	"handloom/internal/chart"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'"

type pageView struct {
	Policy  string
	Style   template.CSS
	Command string
	Partial bool
	Says    string // number of targets met
	Facts   []pageFact
	Charts  []template.HTML
	Targets *pageTable
	Results *pageTable
}

type pageFact struct{ Name, Value string }

// pageTable is a table. Left marks left-aligned columns.
type pageTable struct {
	Title string
	Head  []pageHeader
	Rows  []pageRow
}

// pageRow is a row. The first row of a group has an id, the target of a link
// above the table.
type pageRow struct {
	Cells    []string
	ID, Jump string
}

type pageHeader struct {
	Name string
	Left bool
}

func (r *Run) WritePage(w io.Writer, reached []targets.Target) error {
	v := pageView{
		Policy: pagePolicy, Style: template.CSS(chart.Style + pageCSS),
		Command: r.Command, Partial: r.Partial, Results: resultTable(r),
	}
	e := r.Environment
	for _, f := range [][2]string{
		{"Go", e.Go},
		{"platform", e.GOOS + "/" + e.GOARCH},
		{"processor", e.CPU},
		{"processors", fmt.Sprint(e.CPUs)},
		{"GOMAXPROCS", fmt.Sprint(e.GOMAXPROCS)},
		{"GOGC", e.GOGC},
		{"revision", e.Revision},
		{"date", e.Date},
		{"seed", fmt.Sprint(e.Seed)},
		{"rounds", fmt.Sprintf("%d of %s", e.Rounds, e.BenchTime)},
	} {
		v.Facts = append(v.Facts, pageFact{f[0], f[1]})
	}
	for _, c := range charts(r) {
		v.Charts = append(v.Charts, template.HTML(chart.Figure(c))) // Figure escapes
	}
	if len(reached) > 0 {
		v.Targets = targetTable(reached)
		met, promised := targets.Met(reached)
		v.Says = fmt.Sprintf("%d of %d targets are met here.", met, promised)
	}
	return pageTemplate.Execute(w, v)
}

func resultTable(r *Run) *pageTable {
	t := &pageTable{Title: "Results"}
	for _, name := range Head {
		t.Head = append(t.Head, pageHeader{name, name == "op" || name == "impl" || name == "unit"})
	}
	seen := make(map[string]bool)
	for i, group := range r.Rows() {
		for j, cells := range group {
			next := pageRow{Cells: cells}
			if j == 0 {
				next.ID = fmt.Sprintf("group-%d", i)
				if op := cells[0]; !seen[op] {
					next.Jump, seen[op] = op, true
				}
			}
			t.Rows = append(t.Rows, next)
		}
	}
	return t
}

func targetTable(reached []targets.Target) *pageTable {
	t := &pageTable{Title: "Targets"}
	for _, name := range targets.Head {
		t.Head = append(t.Head, pageHeader{name, name == "id" || name == "work" || name == ""})
	}
	for _, target := range reached {
		t.Rows = append(t.Rows, pageRow{Cells: target.Row(), ID: fmt.Sprintf("target-%d", len(t.Rows))})
	}
	return t
}
