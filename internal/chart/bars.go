package chart

// Bars is a chart of groups with one row per series: a dot on a logarithmic axis,
// with a whisker as its interval.
type Bars struct {
	Title  string
	Unit   Unit
	Series []string // names; one series has no legend
	Groups []Group
}

type Group struct {
	Name   string
	Values []Value // by series; values up to zero and NaN are omitted
}

// Value is a figure with the interval of its true value, if it is known: finite
// ends.
type Value struct{ At, Low, High float64 }

const rowHeight = font + 3

func (b Bars) Draw() string {
	c := new(canvas)
	c.head(b.Title, b.Series)
	c.y += 6
	x := b.axis()
	bottom := c.y
	for _, g := range b.Groups {
		bottom += g.height()
	}
	for _, t := range x.ticks {
		c.stroke(vertical(x.at(t.value), c.y, bottom+4), grid, 1, "")
	}
	for _, g := range b.Groups {
		c.text(x.from-12, c.y+g.height()/2+5, "end", ink, fit(g.Name, room*0.4))
		for i, v := range g.Values {
			if v.At > 0 {
				c.value(v, x, c.y+float64(i+1)*rowHeight-rowHeight/2+4, color(i), b.Unit)
			}
		}
		c.y += g.height()
	}
	c.below(x, "logarithmic")
	return c.document(b.Title)
}

func (g Group) height() float64 { return float64(max(len(g.Values), 1)*rowHeight + 8) }

// axis returns the axis of the values, between the names and the last figure.
func (b Bars) axis() (x scale) {
	var e extent
	names := 0.0
	for _, g := range b.Groups {
		names = max(names, width(fit(g.Name, room*0.4)))
		for _, v := range g.Values {
			for _, at := range []float64{v.At, v.Low, v.High} {
				if at > 0 {
					e.add(at)
				}
			}
		}
	}
	if !e.some {
		e = extent{1, 10, true}
	}
	for want := 6; ; want-- {
		x = e.logarithmic(b.Unit, want)
		x.from, x.to = margin+names+12, pageWidth-margin-60
		if want == 2 || x.apart() {
			return x
		}
	}
}

func (c *canvas) value(v Value, x scale, y float64, color string, u Unit) {
	end := x.at(v.At)
	if v.Low > 0 && v.Low < v.High && v.High <= x.hi {
		low, high := x.at(v.Low), x.at(v.High)
		c.stroke(horizontal(low, high, y)+vertical(low, y-3, y+3)+vertical(high, y-3, y+3), color, 1.5, "")
		end = max(end, high)
	}
	c.dot(x.at(v.At), y, color)
	c.text(end+8, y+5, "start", ink, u.Format(v.At))
}
