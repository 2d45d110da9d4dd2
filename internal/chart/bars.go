package chart

import (
	"fmt"
	"slices"
)

// Bars is a chart of groups with one row per series. A value on a linear axis
// is a bar from 0; on a logarithmic axis, which has no 0, a dot. A whisker is
// its interval.
type Bars struct {
	Title  string
	X      Axis
	Series []string // names; one series has no legend
	Groups []Group
	Note   string // small print below
}

type Group struct {
	Name   string
	Values []Value // by series; NaN and values outside the axis are omitted
}

func (b Bars) Draw() string {
	c := newCanvas()
	c.title(b.Title)
	c.legend(b.keys(c))
	c.y += 6
	x, names := b.axis(c)
	b.lines(c, x, names)
	for _, g := range b.Groups {
		b.group(c, g, x, names)
	}
	b.labels(c, x)
	c.note(b.Note, slices.ContainsFunc(b.Groups, func(g Group) bool { return slices.ContainsFunc(g.Values, Value.guess) }))
	return c.document(b.Title)
}

func (b Bars) keys(c *canvas) []key {
	var keys []key
	if len(b.Series) > 1 {
		for i, name := range b.Series {
			keys = append(keys, key{name, func(x, y float64) {
				if b.X.Scale == Linear {
					c.fill(bar(x, x+keyWidth, y-5, 10), lookOf(i).color)
					return
				}
				c.fill(lookOf(i).marker(x+keyWidth/2, y, dot), lookOf(i).color)
			}})
		}
	}
	return keys
}

const dot = 4

func bar(x1, x2, y, height float64) string {
	return fmt.Sprintf("M%s %sH%sv%sH%sz", px(x1), px(y), px(x2), px(height), px(x1))
}

// axis returns the axis of the values and the width of the names at its left.
func (b Bars) axis(c *canvas) (x scale, names float64) {
	var e extent
	values := 0.0
	for _, g := range b.Groups {
		names = max(names, width(g.Name, c.font))
		for _, v := range g.Values {
			if b.X.Scale.shows(v.At) {
				e.addValue(v, b.X.Scale)
				values = max(values, width(b.X.Unit.Format(v.At), c.font))
			}
		}
	}
	names = min(names, c.room()*0.4)
	for want := 6; ; want-- {
		x = newScale(b.X, e, want, true)
		left, right := x.overhang(c.font)
		x.from = margin + max(names+8+dot, left)
		x.to = c.width - margin - max(values+8+dot, right)
		if want == 2 || x.apart(c.font) {
			return x, names
		}
	}
}

const groupGap = 8

func barHeight(c *canvas) float64 { return c.font + 3 }

func (b Bars) barsHeight(c *canvas) float64 { return float64(max(len(b.Series), 1)) * barHeight(c) }

func (b Bars) height(c *canvas, g Group, names float64) float64 {
	return max(b.barsHeight(c), float64(len(wrap(g.Name, c.font, names)))*c.line()) + groupGap
}

func (b Bars) lines(c *canvas, x scale, names float64) {
	bottom := c.y
	for _, g := range b.Groups {
		bottom += b.height(c, g, names)
	}
	for _, t := range x.ticks {
		c.stroke(vertical(x.at(t.value), c.y, bottom+4), grid, 1, "")
	}
	if b.X.Scale == Linear {
		c.stroke(vertical(x.from, c.y, bottom), axis, 1, "")
	}
}

func (b Bars) group(c *canvas, g Group, x scale, names float64) {
	height := b.height(c, g, names)
	top := c.y + (height-b.barsHeight(c))/2
	name := wrap(g.Name, c.font, names)
	baseline := c.y + height/2 + c.font*0.35 - float64(len(name)-1)*c.line()/2
	for i, line := range name {
		c.text(x.from-8-dot, baseline+float64(i)*c.line(), "end", ink, line)
	}
	for i, v := range g.Values[:min(len(g.Values), len(b.Series))] {
		if b.X.Scale.shows(v.At) {
			b.row(c, v, x, lookOf(i), top+(float64(i)+0.5)*barHeight(c))
		}
	}
	c.y += height
}

func (b Bars) row(c *canvas, v Value, x scale, l look, y float64) {
	at, end := x.at(v.At), x.at(v.At)+dot
	if b.X.Scale == Linear {
		at = max(at, x.from+1)
		c.mark(l, bar(x.from, at, y-barHeight(c)/2+1, barHeight(c)-2), v.guess())
		end = at
	}
	if v.ranges() {
		low, high := x.at(max(v.Low, x.lo)), x.at(v.High)
		color := l.color
		if b.X.Scale == Linear { // on the bar
			color = ink
		}
		c.stroke(horizontal(low, high, y)+vertical(low, y-3, y+3)+vertical(high, y-3, y+3), color, 1.5, "")
		end = max(end, high)
	}
	if b.X.Scale != Linear {
		c.mark(l, l.marker(at, y, dot), v.guess())
	}
	c.halo(end+4, y+c.font*0.35, b.X.Unit.Format(v.At))
}

// halo writes s with a halo over lines.
func (c *canvas) halo(x, y float64, s string) {
	fmt.Fprintf(c, `<text x="%s" y="%s" fill="%s" stroke="%s" stroke-width="3" paint-order="stroke">%s</text>`+"\n",
		px(x), px(y), ink, paper, Escape(s))
}

func (b Bars) labels(c *canvas, x scale) {
	for _, t := range x.ticks {
		c.text(x.at(t.value), c.y+6+c.font, "middle", ink, t.label)
	}
	c.y += 8 + c.font
	c.below(x, b.X)
}
