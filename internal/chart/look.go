package chart

import (
	"fmt"
	"strings"
)

// theme is the colours of a page and of what is drawn on it. A drawing names them
// by variables, so that one drawing serves both schemes.
type theme struct {
	back, paper, ink, faint, grid, axis string
	good, bad, link                     string

	// The series keep apart in every common form of colour blindness, and in
	// grey: each has a lightness of its own, and three times the contrast of the
	// paper.
	series [6]string
}

var (
	light = theme{
		back: "#f3f3f1", paper: "#ffffff", ink: "#1c1c1c", faint: "#555555", grid: "#dddddd", axis: "#888888",
		good: "#10897a", bad: "#b00020", link: "#0b57b0",
		series: [...]string{"#005bb5", "#dd7510", "#8a0f2a", "#10897a", "#4a1060", "#111111"},
	}
	dark = theme{
		back: "#131416", paper: "#1c1d1f", ink: "#e6e6e6", faint: "#b0b0b0", grid: "#37393c", axis: "#8a8d91",
		good: "#4fd0b8", bad: "#ff7a85", link: "#8fbcff",
		series: [...]string{"#5aa2ff", "#f5a74a", "#c2405a", "#76e4cf", "#a36edb", "#f4f4f4"},
	}
)

// variables returns the theme as declarations of a style sheet.
func (t theme) variables() string {
	var b strings.Builder
	for _, v := range [][2]string{
		{"back", t.back},
		{"paper", t.paper},
		{"ink", t.ink},
		{"faint", t.faint},
		{"grid", t.grid},
		{"axis", t.axis},
		{"good", t.good},
		{"bad", t.bad},
		{"link", t.link},
	} {
		fmt.Fprintf(&b, "--%s: %s; ", v[0], v[1])
	}
	for i, color := range t.series {
		fmt.Fprintf(&b, "--s%d: %s; ", i, color)
	}
	return strings.TrimSpace(b.String())
}

const (
	paper = "var(--paper)"
	ink   = "var(--ink)"
	faint = "var(--faint)"
	grid  = "var(--grid)"
	axis  = "var(--axis)"
	limit = "var(--bad)"
)

var dashes = []string{"", "7 3", "2 3", "9 3 2 3", "12 4", "4 2"}

// look is how one series differs from the others.
type look struct {
	color, dash string
	shape       int
}

const shapes = 5

func lookOf(series int) look {
	return look{fmt.Sprintf("var(--s%d)", series%len(light.series)), dashes[series%len(dashes)], series % shapes}
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

// mark draws the marker, hollow where the value is a guess.
func (c *canvas) mark(l look, path string, guess bool) {
	if guess {
		fmt.Fprintf(c, `<path d="%s" fill="%s" stroke="%s" stroke-width="1.5"/>`+"\n", path, paper, l.color)
		return
	}
	c.fill(path, l.color)
}
