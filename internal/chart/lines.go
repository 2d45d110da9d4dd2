package chart

import (
	"slices"
	"strings"
)

// Lines is a chart of values over another figure, such as time.
type Lines struct {
	Title  string
	X, Y   Axis // linear
	Series []Series
}

// Series is one line. It has a gap at NaN points.
type Series struct {
	Name   string
	Points []Point // ascending in X
}

type Point struct{ X, Y float64 }

func (l Lines) Draw() string {
	c := newCanvas()
	c.title(l.Title)
	c.legend(l.keys(c))
	x, y := l.axes(c)
	c.grid(x, y, l.X, l.Y)
	for i, s := range l.Series {
		c.series(s, x, y, i, len(l.Series))
	}
	if !slices.ContainsFunc(l.Series, func(s Series) bool { return slices.ContainsFunc(s.Points, Point.shown) }) {
		c.text((x.from+x.to)/2, (y.from+y.to)/2, "middle", faint, "no values yet")
	}
	return c.document(l.Title)
}

func (l Lines) keys(c *canvas) []key {
	var keys []key
	for i, s := range l.Series {
		if len(l.Series) == 1 {
			break
		}
		keys = append(keys, key{s.Name, func(x, y float64) {
			look := lookOf(i)
			c.stroke(horizontal(x, x+keyWidth, y), look.color, 2, look.dash)
			c.fill(look.marker(x+keyWidth/2, y, 3.5), look.color)
		}})
	}
	return keys
}

func (p Point) shown() bool { return Linear.shows(p.X) && Linear.shows(p.Y) }

func (l Lines) axes(c *canvas) (x, y scale) {
	var ex, ey extent
	for _, s := range l.Series {
		for _, p := range s.Points {
			if p.shown() {
				ex.add(p.X, Linear)
				ey.add(p.Y, Linear)
			}
		}
	}
	y = newScale(l.Y, ey, 6, true)
	left := margin + 8 + widest(y.ticks, c.font)
	for want := 9; ; want-- { // as many labels as stay apart
		x = newScale(l.X, ex, want, false)
		_, right := x.overhang(c.font)
		x.from, x.to = left, c.width-margin-right
		if want == 2 || x.apart(c.font) {
			break
		}
	}
	top := c.y + c.line()*0.6
	if l.Y.Title != "" {
		top += c.line() // the title is above the axis
	}
	y.from, y.to = top+240, top
	return x, y
}

func widest(ticks []tick, font float64) float64 {
	w := 0.0
	for _, t := range ticks {
		w = max(w, width(t.label, font))
	}
	return w
}

func (c *canvas) series(s Series, x, y scale, i, n int) {
	look := lookOf(i)
	var path, marks strings.Builder
	every := max(len(s.Points)/8, 1) // keeps the markers of all lines apart
	step := "M"
	for j, p := range s.Points {
		if !p.shown() {
			step = "M"
			continue
		}
		path.WriteString(step + px(x.at(p.X)) + " " + px(y.at(p.Y)))
		if j%every == every*i/n {
			marks.WriteString(look.marker(x.at(p.X), y.at(p.Y), 3))
		}
		step = "L"
	}
	if path.Len() > 0 {
		c.stroke(path.String(), look.color, 1.8, look.dash)
	}
	if marks.Len() > 0 {
		c.fill(marks.String(), look.color)
	}
}
