package chart_test

import (
	"strings"
	"testing"

	"handloom/internal/chart"
)

func TestAllTextIsEscaped(t *testing.T) {
	const evil = "</svg><script>\"'&\x1b\x00\xff\uffff"
	all := []chart.Chart{
		chart.Lines{
			Title: evil, Says: evil, Note: evil, X: chart.Axis{Title: evil}, Y: chart.Axis{Title: evil},
			Series: []chart.Series{{Name: evil}, {Name: evil, Points: []chart.Point{{X: 1, Y: chart.Value{At: 2}}, {X: 3, Y: chart.Value{At: 4}}}}}, Limit: &chart.Limit{Name: evil, At: 3},
		},
		chart.Bars{
			Title: evil, Says: evil, Note: evil, X: chart.Axis{Title: evil}, Series: []string{evil, evil},
			Groups: []chart.Group{{evil, []chart.Value{{At: 1}, {At: 2}}}}, Limit: &chart.Limit{Name: evil, At: 3},
		},
	}
	for _, c := range all {
		for _, svg := range []string{c.SVG(), c.Narrow()} {
			texts, _, _ := boxes(t, svg) // reads it as XML
			if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x1b\x00\uffff") || strings.Count(svg, "</svg>") != 1 {
				t.Errorf("something came through:\n%s", svg)
			}
			if len(texts) < 8 || !strings.Contains(svg, "&lt;/svg&gt;&lt;script&gt;") {
				t.Errorf("texts are missing: %+v", texts)
			}
		}
	}
}

func TestADrawingIsTheSameEveryTime(t *testing.T) {
	for name, c := range charts {
		if first, second := chart.Figure(c), chart.Figure(c); first != second {
			t.Errorf("%s differs", name)
		}
	}
}
