package chart

import _ "embed"

type Chart interface {
	Draw() string
}

// Figure returns c as an element of a page with [Style].
func Figure(c Chart) string {
	return `<figure class="chart">` + "\n" + c.Draw() + "</figure>\n"
}

// Style is the style sheet of pages with charts: the colours of both schemes
// and common rules.
//
//go:embed page.css
var Style string
