package chart

import (
	"fmt"
	"slices"
	"strings"
)

// Lines is a chart of values over another figure: time, or a size.
type Lines struct {
	Title  string
	Says   string // what to take away, below the title
	X, Y   Axis
	Series []Series
	Note   string // small print below
}

// Series is one line, in a band of the intervals of its points. Where a point
// cannot be shown, being no number or not above zero on a logarithmic axis, the
// line has a gap. Points that are guesses are dots without a line, or one would
// see more than was measured.
type Series struct {
	Name   string
	Points []Point // by rising X
}

// Known reports whether no point is a guess.
func (s Series) Known() bool {
	return !slices.ContainsFunc(s.Points, func(p Point) bool { return p.Y.guess() })
}

// Point is one value over X.
type Point struct {
	X float64
	Y Value
}

// Draw draws the figure.
func (l Lines) Draw(narrow bool) string {
	c := newCanvas(narrow)
	c.title(l.Title, l.Says)
	c.legend(l.keys(c))
	x, y := l.axes(c, narrow)
	c.grid(x, y, l.X, l.Y)
	for i, s := range l.Series {
		c.series(s, x, y, i, len(l.Series))
	}
	if l.empty() {
		c.text((x.from+x.to)/2, (y.from+y.to)/2, "middle", faint, "no values yet")
	}
	c.note(l.Note, slices.ContainsFunc(l.Series, func(s Series) bool { return !s.Known() }))
	return c.document(class(narrow), l.Title)
}

func (l Lines) keys(c *canvas) []key {
	var keys []key
	for i, s := range l.Series {
		if len(l.Series) == 1 { // which the title names
			break
		}
		keys = append(keys, key{s.Name, func(x, y float64) {
			look := lookOf(i)
			if slices.ContainsFunc(s.Points, func(p Point) bool { return p.Y.ranges() }) {
				c.band(bar(x, x+keyWidth, y-5, 10), look)
			}
			c.stroke(horizontal(x, x+keyWidth, y), look.color, 2, look.dash)
			c.fill(look.marker(x+keyWidth/2, y, 3.5), look.color)
		}})
	}
	return keys
}

// shows reports whether p has a place on both axes.
func (l Lines) shows(p Point) bool { return l.X.Scale.shows(p.X) && l.Y.Scale.shows(p.Y.At) }

func (l Lines) empty() bool {
	for _, s := range l.Series {
		if slices.ContainsFunc(s.Points, l.shows) {
			return false
		}
	}
	return true
}

// axes returns both axes, with their place below what is drawn already.
func (l Lines) axes(c *canvas, narrow bool) (x, y scale) {
	var ex, ey extent
	for _, s := range l.Series {
		for _, p := range s.Points {
			if l.shows(p) {
				ex.add(p.X, l.X.Scale)
				ey.addValue(p.Y, l.Y.Scale)
			}
		}
	}
	height, across, up := 240.0, 9, 6
	if narrow {
		height, across = 200, 5
	}
	if l.Y.Scale != Linear {
		up = 9 // unevenly spaced ticks need more of them
	}
	y = newScale(l.Y, ey, up, true)
	left := margin + 8 + widest(y.ticks, c.font)
	for want := across; ; want-- { // as many labels as keep apart
		x = newScale(l.X, ex, want, false)
		_, right := x.overhang(c.font)
		x.from, x.to = left, c.width-margin-right
		if want == 2 || x.apart(c.font) {
			break
		}
	}
	top := c.y + c.line()*0.6
	if l.Y.Title != "" {
		top += c.line() // for it stands above the axis
	}
	y.from, y.to = top+height, top
	return x, y
}

// widest returns the room that the labels need.
func widest(ticks []tick, font float64) float64 {
	w := 0.0
	for _, t := range ticks {
		w = max(w, width(t.label, font))
	}
	return w
}

// series draws the i-th of n lines.
func (c *canvas) series(s Series, x, y scale, i, n int) {
	look := lookOf(i)
	var path, marks, guesses strings.Builder
	var upper, lower []string        // edges of the band
	every := max(len(s.Points)/8, 1) // markers lie apart, those of two lines not upon each other
	inLine := false
	for j, p := range s.Points {
		if !x.kind.shows(p.X) || !y.kind.shows(p.Y.At) || p.Y.guess() {
			c.bandOf(&upper, &lower, look)
			if inLine = false; x.kind.shows(p.X) && y.kind.shows(p.Y.At) {
				guesses.WriteString(look.marker(x.at(p.X), y.at(p.Y.At), 3))
			}
			continue
		}
		step := "M"
		if inLine {
			step = "L"
		}
		px1, py1 := x.at(p.X), y.at(p.Y.At)
		path.WriteString(step + px(px1) + " " + px(py1))
		if p.Y.ranges() {
			upper = append(upper, px(px1)+" "+px(y.at(p.Y.High)))
			lower = append(lower, px(px1)+" "+px(y.at(max(p.Y.Low, y.lo))))
		}
		if j%every == every*i/n {
			marks.WriteString(look.marker(px1, py1, 3))
		}
		inLine = true
	}
	c.bandOf(&upper, &lower, look)
	if path.Len() > 0 {
		c.stroke(path.String(), look.color, 1.8, look.dash)
	}
	if marks.Len() > 0 {
		c.fill(marks.String(), look.color)
	}
	if guesses.Len() > 0 {
		c.mark(look, guesses.String(), true)
	}
}

// bandOf draws the band between both edges and forgets them.
func (c *canvas) bandOf(upper, lower *[]string, l look) {
	if len(*upper) > 0 {
		slices.Reverse(*lower)
		c.band("M"+strings.Join(append(*upper, *lower...), "L")+"z", l)
	}
	*upper, *lower = nil, nil
}

// band fills a path so that what lies behind it is seen.
func (c *canvas) band(path string, l look) {
	fmt.Fprintf(c, `<path d="%s" fill="%s" fill-opacity="0.22"/>`+"\n", path, l.color)
}
