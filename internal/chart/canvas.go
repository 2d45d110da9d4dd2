package chart

import (
	"fmt"
	"strconv"
	"strings"
)

// canvas is a drawing that grows downwards.
type canvas struct {
	strings.Builder
	width float64
	font  float64 // size of labels
	y     float64
}

const margin = 10

func newCanvas() *canvas { return &canvas{width: 640, font: 13, y: margin} }

func (c *canvas) room() float64 { return c.width - 2*margin }

func (c *canvas) line() float64 { return c.font * 1.4 }

// px formats a length in tenths of a pixel.
func px(v float64) string {
	text := strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

func (c *canvas) text(x, y float64, anchor, color, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" text-anchor="%s" fill="%s">%s</text>`+"\n", px(x), px(y), anchor, color, Escape(s))
}

func (c *canvas) stroke(path, color string, width float64, dash string) {
	fmt.Fprintf(c, `<path d="%s" fill="none" stroke="%s" stroke-width="%s" stroke-linejoin="round"`, path, color, px(width))
	if dash != "" {
		fmt.Fprintf(c, ` stroke-dasharray="%s"`, dash)
	}
	c.WriteString("/>\n")
}

func (c *canvas) fill(path, color string) {
	fmt.Fprintf(c, `<path d="%s" fill="%s"/>`+"\n", path, color)
}

func horizontal(x1, x2, y float64) string { return "M" + px(x1) + " " + px(y) + "H" + px(x2) }

func vertical(x, y1, y2 float64) string { return "M" + px(x) + " " + px(y1) + "V" + px(y2) }

func (c *canvas) title(s string) {
	size := c.font + 2
	for _, line := range wrap(s, size*1.08, c.room()) { // bold is wider
		c.y += size * 1.3
		fmt.Fprintf(c, `<text x="%s" y="%s" font-size="%s" font-weight="bold" fill="%s">%s</text>`+"\n",
			px(margin), px(c.y-size*0.3), px(size), ink, Escape(line))
	}
	c.y += 4
}

// note writes small print, and the meaning of hollow markers if guesses.
func (c *canvas) note(s string, guesses bool) {
	if guesses {
		s += " Hollow: measured too seldom to tell how far it can be trusted."
	}
	for _, line := range wrap(s, c.font, c.room()) {
		c.y += c.line()
		c.text(margin, c.y-4, "start", faint, line)
	}
}

type key struct {
	name string
	draw func(x, y float64) // draws the sample, keyWidth wide, around y
}

const keyWidth = 30

func (c *canvas) legend(keys []key) {
	x := float64(margin)
	if len(keys) > 0 {
		c.y += c.line()
	}
	for _, k := range keys {
		name := fit(k.name, c.font, c.room()-keyWidth-6)
		w := keyWidth + 6 + width(name, c.font)
		if x > margin && x+w > c.width-margin {
			x, c.y = margin, c.y+c.line()
		}
		middle := c.y - c.line()/2
		k.draw(x, middle)
		c.text(x+keyWidth+6, middle+c.font*0.35, "start", ink, name)
		x += w + 14
	}
}

func (c *canvas) document(title string) string {
	height := px(c.y + margin)
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-label="%s" font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', Arial, sans-serif" font-size="%s">`+
		"\n<title>%s</title>\n"+`<rect width="%s" height="%s" fill="%s"/>`+"\n%s</svg>\n",
		px(c.width), height, px(c.width), height, Escape(title), px(c.font),
		Escape(title), px(c.width), height, paper, c.String())
}
