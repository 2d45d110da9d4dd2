package chart

import _ "embed"

// Chart is a figure that can be drawn.
type Chart interface {
	// Draw returns SVG.
	Draw() string
}

// Figure returns c as part of a page that has [Style].
func Figure(c Chart) string {
	return `<figure class="chart">` + "\n" + c.Draw() + "</figure>\n"
}

// Style is the style sheet of a page with figures: the colours of both schemes,
// and the rules that pages have in common. A figure that is wider than its room is
// scrolled.
//
//go:embed page.css
var Style string
