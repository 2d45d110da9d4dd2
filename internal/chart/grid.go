package chart

func (c *canvas) grid(x, y scale, ofX, ofY Axis) {
	if ofY.Title != "" {
		c.text(margin, y.to-c.line()*0.6, "start", faint, fit(ofY.Title, c.font, c.room()))
	}
	for _, t := range y.ticks {
		at := y.at(t.value)
		c.stroke(horizontal(x.from, x.to, at), grid, 1, "")
		c.text(x.from-6, at+c.font*0.35, "end", ink, t.label)
	}
	for _, t := range x.ticks {
		at := x.at(t.value)
		c.stroke(vertical(at, y.from, y.from+4), axis, 1, "")
		c.text(at, y.from+4+c.font, "middle", ink, t.label)
	}
	c.stroke(horizontal(x.from, x.to, y.from), axis, 1, "")
	c.stroke(vertical(x.from, y.to, y.from), axis, 1, "")
	c.y = y.from + 6 + c.font
	c.below(x, ofX)
}

func (c *canvas) below(x scale, axis Axis) {
	if axis.Title == "" {
		c.y += 4
		return
	}
	title := fit(axis.Title, c.font, c.room())
	half := width(title, c.font) / 2
	middle := max(min((x.from+x.to)/2, c.width-margin-half), margin+half)
	c.y += c.line()
	c.text(middle, c.y-3, "middle", faint, title)
	c.y += 2
}
