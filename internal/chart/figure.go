package chart

// Chart is a figure that can be drawn.
type Chart interface {
	SVG() string    // for room of about 640 pixels, and for files
	Narrow() string // for room of about 360 pixels
}

// Figure returns c as part of a page that has [Style]: both drawings, of which
// the one that fits is shown.
func Figure(c Chart) string {
	return `<figure class="chart">` + "\n" + c.SVG() + c.Narrow() + "</figure>\n"
}

// Style is the style sheet that [Figure] needs. It asks for the room of the
// figure, not of the window, so that figures may stand side by side.
const Style = `.chart { margin: 0; container-type: inline-size; }
.chart svg { display: block; width: 100%; height: auto; max-width: 860px; }
.chart svg.narrow { display: none; max-width: 480px; }
@container (max-width: 479px) {
	.chart svg.wide { display: none; }
	.chart svg.narrow { display: block; }
}
`

// class is the name that Style knows a drawing by.
func class(narrow bool) string {
	if narrow {
		return "narrow"
	}
	return "wide"
}
