package chart

import (
	"math"
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

func (p Point) shown() bool { return !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0) }

const linesHeight = 240

func (l Lines) Draw() string {
	c := new(canvas)
	var names []string
	for _, s := range l.Series {
		names = append(names, s.Name)
	}
	c.head(l.Title, names)
	c.y += line
	c.text(margin, c.y, "start", faint, fit(l.Y.Title, room))
	x, y := l.axes(c.y + 10)
	for _, t := range y.ticks {
		c.stroke(horizontal(x.from, x.to, y.at(t.value)), grid, 1, "")
		c.text(x.from-6, y.at(t.value)+5, "end", ink, t.label)
	}
	for _, t := range x.ticks {
		c.stroke(vertical(x.at(t.value), y.from, y.from+4), axis, 1, "")
	}
	for i, s := range l.Series {
		c.series(s, x, y, i)
	}
	c.y = y.from + 4
	c.below(x, l.X.Title)
	return c.document(l.Title)
}

func (l Lines) axes(top float64) (x, y scale) {
	var ex, ey extent
	for _, s := range l.Series {
		for _, p := range s.Points {
			if p.shown() {
				ex.add(p.X)
				ey.add(p.Y)
			}
		}
	}
	y = ey.linear(l.Y.Unit, 6, true)
	y.from, y.to = top+linesHeight, top
	left := margin + 8.0
	for _, t := range y.ticks {
		left = max(left, margin+8+width(t.label))
	}
	for want := 9; ; want-- { // as many labels as stay apart
		x = ex.linear(l.X.Unit, want, false)
		x.from, x.to = left, pageWidth-margin-20
		if want == 2 || x.apart() {
			return x, y
		}
	}
}

func (c *canvas) series(s Series, x, y scale, i int) {
	var path strings.Builder
	lift := true
	for _, p := range s.Points {
		at := px(x.at(p.X)) + " " + px(y.at(p.Y))
		switch {
		case p.shown() && lift:
			path.WriteString("M" + at + "h0") // a point alone is a dot
		case p.shown():
			path.WriteString("L" + at)
		}
		lift = !p.shown()
	}
	c.stroke(path.String(), color(i), 1.8, dashes[i%len(dashes)])
}
