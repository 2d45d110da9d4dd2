package chart

import "fmt"

// Colours are variables of [Style], so that one drawing serves both schemes.
const (
	paper = "var(--paper)"
	ink   = "var(--ink)"
	faint = "var(--faint)"
	grid  = "var(--grid)"
	axis  = "var(--axis)"
)

// colors is the number of colours of series: --s0 to --s5.
const colors = 6

var dashes = []string{"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2"}

type look struct {
	color, dash string
	shape       int
}

const shapes = 5

func lookOf(series int) look {
	return look{fmt.Sprintf("var(--s%d)", series%colors), dashes[series%len(dashes)], series % shapes}
}

func (l look) marker(x, y, r float64) string {
	switch l.shape {
	case 0: // circle
		return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0z", px(x-r), px(y), px(r), px(r), px(2*r), px(r), px(r), px(-2*r))
	case 1: // square
		return fmt.Sprintf("M%s %sh%sv%sh%sz", px(x-r), px(y-r), px(2*r), px(2*r), px(-2*r))
	case 2: // triangle
		return fmt.Sprintf("M%s %sl%s %sh%sz", px(x), px(y-1.2*r), px(1.2*r), px(2.2*r), px(-2.4*r))
	case 3: // diamond
		return fmt.Sprintf("M%s %sl%s %sl%s %sl%s %sz", px(x), px(y-1.4*r), px(1.4*r), px(1.4*r), px(-1.4*r), px(1.4*r), px(-1.4*r), px(-1.4*r))
	default: // inverted triangle
		return fmt.Sprintf("M%s %sl%s %sh%sz", px(x), px(y+1.2*r), px(1.2*r), px(-2.2*r), px(-2.4*r))
	}
}

// mark draws the marker, hollow if guess.
func (c *canvas) mark(l look, path string, guess bool) {
	if guess {
		fmt.Fprintf(c, `<path d="%s" fill="%s" stroke="%s" stroke-width="1.5"/>`+"\n", path, paper, l.color)
		return
	}
	c.fill(path, l.color)
}
