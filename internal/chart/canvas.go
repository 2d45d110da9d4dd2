package chart

import (
	"fmt"
	"strconv"
	"strings"
)

// Colours are variables of [Style], so that one drawing serves both schemes.
const (
	paper = "var(--paper)"
	ink   = "var(--ink)"
	faint = "var(--faint)"
	grid  = "var(--grid)"
	axis  = "var(--axis)"
)

var dashes = []string{"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2"}

// color is the colour of a series, --s0 to --s5.
func color(series int) string { return fmt.Sprintf("var(--s%d)", series%6) }

// canvas is a drawing that grows downwards.
type canvas struct {
	strings.Builder
	y float64
}

const (
	pageWidth = 640
	margin    = 10
	room      = pageWidth - 2*margin
	line      = 18 // height
)

// px formats a length in tenths of a pixel.
func px(v float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

// text writes s with a halo over lines.
func (c *canvas) text(x, y float64, anchor, color, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
		px(x), px(y), anchor, color, paper, Escape(s))
}

func (c *canvas) stroke(path, color string, width float64, dash string) {
	fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s" stroke-width="%s" stroke-dasharray="%s" stroke-linecap="round"/>`+"\n", path, color, px(width), dash)
}

func (c *canvas) dot(x, y float64, color string) {
	fmt.Fprintf(c, `<circle cx="%s" cy="%s" r="4" fill="%s"/>`+"\n", px(x), px(y), color)
}

func horizontal(x1, x2, y float64) string { return "M" + px(x1) + " " + px(y) + "H" + px(x2) }

func vertical(x, y1, y2 float64) string { return "M" + px(x) + " " + px(y1) + "V" + px(y2) }

// head writes the title, and the names of several series below it.
func (c *canvas) head(title string, series []string) {
	c.y = margin + line
	fmt.Fprintf(c, `<text x="%d" y="%s" font-weight="bold" fill="%s">%s</text>`+"\n", margin, px(c.y-4), ink, Escape(fit(title, room*0.9)))
	if len(series) == 1 {
		return
	}
	x := float64(margin)
	c.y += line
	for i, name := range series {
		name = fit(name, room-40)
		if x > margin && x+40+width(name) > pageWidth-margin {
			x, c.y = margin, c.y+line
		}
		c.stroke(horizontal(x, x+30, c.y-line/2), color(i), 2, dashes[i%len(dashes)])
		c.dot(x+15, c.y-line/2, color(i))
		c.text(x+36, c.y-line/2+5, "start", ink, name)
		x += 50 + width(name)
	}
}

// below writes the labels of a horizontal axis and its title.
func (c *canvas) below(s scale, title string) {
	for _, t := range s.ticks {
		c.text(s.at(t.value), c.y+font, "middle", ink, t.label)
	}
	c.y += 2 * line
	c.text((s.from+s.to)/2, c.y-4, "middle", faint, fit(title, room/2))
}

func (c *canvas) document(title string) string {
	height := px(c.y + margin)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %s" width="%[1]d" height="%[2]s" role="img" aria-label="%[3]s" font-family="system-ui, 'DejaVu Sans', Arial, sans-serif" font-size="%[4]d">`+
		"\n<title>%[3]s</title>\n"+`<rect width="%[1]d" height="%[2]s" fill="%[5]s"/>`+"\n%[6]s</svg>\n",
		pageWidth, height, Escape(title), font, paper, c.String())
}
