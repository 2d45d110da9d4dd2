package chart

import _ "embed"

// Chart is a figure that can be drawn.
type Chart interface {
	// Draw returns SVG for room of about 640 pixels, or, narrow, of about 360.
	Draw(narrow bool) string
}

// Figure returns c as part of a page that has [Style]: both drawings, of which
// the one that fits is shown.
func Figure(c Chart) string {
	return `<figure class="chart">` + "\n" + c.Draw(false) + c.Draw(true) + "</figure>\n"
}

// Style is the style sheet of a page with figures: the colours of both schemes,
// and the rules that pages have in common. Figures ask for the room that they have,
// not for the window, so that they may stand side by side.
//
//go:embed page.css
var Style string

// class is the name that Style knows a drawing by.
func class(narrow bool) string {
	if narrow {
		return "narrow"
	}
	return "wide"
}
