package chart

import (
	_ "embed"
	"fmt"
)

// Chart is a figure that can be drawn.
type Chart interface {
	SVG() string    // for room of about 640 pixels
	Narrow() string // for room of about 360 pixels
}

// Figure returns c as part of a page that has [Style]: both drawings, of which
// the one that fits is shown.
func Figure(c Chart) string {
	return `<figure class="chart">` + "\n" + c.SVG() + c.Narrow() + "</figure>\n"
}

//go:embed page.css
var sheet string

// Style is the style sheet of a page with figures: the colours of both schemes,
// and what pages have in common. Figures ask for the room that they have, not for
// the window, so that they may stand side by side.
var Style = fmt.Sprintf(":root { color-scheme: light dark; %s }\n@media (prefers-color-scheme: dark) { :root { %s } }\n@media print { :root { %s } }\n%s",
	light.variables(), dark.variables(), light.variables(), sheet)

// class is the name that Style knows a drawing by.
func class(narrow bool) string {
	if narrow {
		return "narrow"
	}
	return "wide"
}
