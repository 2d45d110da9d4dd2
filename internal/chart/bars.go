package chart

import "fmt"

// Bars is a chart of horizontal bars: for each group one bar of every series.
type Bars struct {
	Title  string
	X      Axis     // of the values
	Series []string // names; with one series there is no legend
	Groups []Group
	Limit  *Limit // nil: none
	Note   string // small print below
}

// Group is some bars that belong together.
type Group struct {
	Name   string
	Values []float64 // by series; NaN, or what the axis cannot show, has no bar
}

// SVG returns the drawing for room of about 640 pixels, with names at the left.
func (b Bars) SVG() string { return b.draw(false) }

// Narrow returns the drawing for room of about 360 pixels, with names above.
func (b Bars) Narrow() string { return b.draw(true) }

func (b Bars) draw(narrow bool) string {
	c := newCanvas(narrow)
	c.title(b.Title)
	c.legend(b.keys(c))
	c.y += 6
	x, names := b.axis(c, narrow)
	b.lines(c, x, names)
	for _, g := range b.Groups {
		b.group(c, g, x, names)
	}
	if len(b.Groups) == 0 {
		c.y += c.line()
		c.text((x.from+x.to)/2, c.y-4, "middle", faint, "no values yet")
	}
	b.labels(c, x)
	c.note(b.Note)
	return c.document(class(narrow), b.Title)
}

func (b Bars) keys(c *canvas) []key {
	var keys []key
	if len(b.Series) > 1 {
		for i, name := range b.Series {
			keys = append(keys, key{name, func(x, y float64) { c.fill(bar(x, x+keyWidth, y-5, 10), lookOf(i).color) }})
		}
	}
	return c.withLimit(keys, b.Limit)
}

// bar returns a rectangle.
func bar(x1, x2, y, height float64) string {
	return fmt.Sprintf("M%s %sH%sv%sH%sz", px(x1), px(y), px(x2), px(height), px(x1))
}

// axis returns the axis of the values and the room for names at its left, which
// is 0 where names stand above their bars.
func (b Bars) axis(c *canvas, narrow bool) (x scale, names float64) {
	var e extent
	values, across := 0.0, 6
	for _, g := range b.Groups {
		names = max(names, width(g.Name, c.font))
		for _, v := range g.Values {
			if b.X.Scale.shows(v) {
				e.add(v, b.X.Scale)
				values = max(values, width(b.X.Unit.format(v), c.font))
			}
		}
	}
	if b.Limit != nil {
		e.add(b.Limit.At, b.X.Scale)
	}
	e.lo *= 0.7 // so that the least value has a bar, too, where the axis begins near it
	if names = min(names, c.room()*0.4); narrow {
		names, across = 0, 4
	}
	for want := across; ; want-- {
		x = newScale(b.X, e, want, true)
		left, right := x.overhang(c.font)
		x.from = margin + max(names+8, left)
		x.to = c.width - margin - max(values+6, right)
		if want == 2 || x.apart(c.font) {
			return x, names
		}
	}
}

const groupGap = 8

func barHeight(c *canvas) float64 { return c.font + 3 }

// barsHeight is that of all bars of one group.
func (b Bars) barsHeight(c *canvas) float64 { return float64(max(len(b.Series), 1)) * barHeight(c) }

// height returns that of g, with its name beside or above it.
func (b Bars) height(c *canvas, g Group, names float64) float64 {
	if names == 0 {
		return b.barsHeight(c) + c.line() + groupGap
	}
	return max(b.barsHeight(c), float64(len(wrap(g.Name, c.font, names)))*c.line()) + groupGap
}

// lines draws what stands behind the bars.
func (b Bars) lines(c *canvas, x scale, names float64) {
	bottom := c.y
	for _, g := range b.Groups {
		bottom += b.height(c, g, names)
	}
	bottom = max(bottom, c.y+c.line())
	for _, t := range x.ticks {
		c.stroke(vertical(x.at(t.value), c.y, bottom+4), grid, 1, "")
	}
	c.stroke(vertical(x.from, c.y, bottom), axis, 1, "")
	if b.Limit != nil && b.X.Scale.shows(b.Limit.At) {
		c.stroke(vertical(x.at(b.Limit.At), c.y, bottom), limit, 1.5, "3 3")
	}
}

// group draws the bars of g, each with its value at the end.
func (b Bars) group(c *canvas, g Group, x scale, names float64) {
	height := b.height(c, g, names)
	bars := c.y + (height-b.barsHeight(c))/2
	if names == 0 {
		c.halo(margin, c.y+c.font*1.1, fit(g.Name, c.font, c.room()))
		bars = c.y + c.line() + groupGap/2
	} else {
		name := wrap(g.Name, c.font, names)
		baseline := c.y + height/2 + c.font*0.35 - float64(len(name)-1)*c.line()/2
		for i, line := range name {
			c.text(x.from-8, baseline+float64(i)*c.line(), "end", ink, line)
		}
	}
	for i, v := range g.Values[:min(len(g.Values), len(b.Series))] {
		if !b.X.Scale.shows(v) {
			continue
		}
		y, end := bars+float64(i)*barHeight(c), max(x.at(v), x.from+1)
		c.fill(bar(x.from, end, y+1, barHeight(c)-2), lookOf(i).color)
		c.halo(end+4, y+barHeight(c)/2+c.font*0.35, b.X.Unit.format(v))
	}
	c.y += height
}

// halo writes s so that lines behind it do not disturb.
func (c *canvas) halo(x, y float64, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
		px(x), px(y), ink, paper, escape(s))
}

// labels writes the axis below the bars.
func (b Bars) labels(c *canvas, x scale) {
	for _, t := range x.ticks {
		c.text(x.at(t.value), c.y+6+c.font, "middle", ink, t.label)
	}
	c.y += 8 + c.font
	c.below(x, b.X)
}
