package chart

import "fmt"

// The colours keep apart in every common form of colour blindness, and in grey:
// each has a lightness of its own, and three times the contrast of the paper.
var palette = []string{"#005bb5", "#dd7510", "#8a0f2a", "#10897a", "#4a1060", "#111111"}

var dashes = []string{"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2"}

const (
	paper = "#ffffff"
	ink   = "#1c1c1c"
	faint = "#555555"
	grid  = "#dddddd"
	axis  = "#888888"
	limit = "#b00020"
)

// look is how one series differs from the others.
type look struct {
	color, dash string
	shape       int
}

const shapes = 5

func lookOf(series int) look {
	return look{palette[series%len(palette)], dashes[series%len(dashes)], series % shapes}
}

// marker returns a closed path around x, y.
func (l look) marker(x, y, r float64) string {
	switch l.shape {
	case 0: // a circle
		return fmt.Sprintf("M%s %sa%s %s 0 1 0 %s 0a%s %s 0 1 0 %s 0z", px(x-r), px(y), px(r), px(r), px(2*r), px(r), px(r), px(-2*r))
	case 1: // a square
		return fmt.Sprintf("M%s %sh%sv%sh%sz", px(x-r), px(y-r), px(2*r), px(2*r), px(-2*r))
	case 2: // a triangle
		return fmt.Sprintf("M%s %sl%s %sh%sz", px(x), px(y-1.2*r), px(1.2*r), px(2.2*r), px(-2.4*r))
	case 3: // a diamond
		return fmt.Sprintf("M%s %sl%s %sl%s %sl%s %sz", px(x), px(y-1.4*r), px(1.4*r), px(1.4*r), px(-1.4*r), px(1.4*r), px(-1.4*r), px(-1.4*r))
	default: // a triangle on its head
		return fmt.Sprintf("M%s %sl%s %sh%sz", px(x), px(y+1.2*r), px(1.2*r), px(-2.2*r), px(-2.4*r))
	}
}
