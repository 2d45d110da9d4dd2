package chart

import (
	_ "embed"
	"strings"
)

type Chart interface {
	Draw() string
}

// Figure returns c as an element of a page with [Style].
func Figure(c Chart) string {
	return `<figure class="chart">` + "\n" + c.Draw() + "</figure>\n"
}

// Image returns c as an SVG file, which has the colours of both schemes.
func Image(c Chart) string {
	colors, _, _ := strings.Cut(Style, "* {")
	first, rest, _ := strings.Cut(c.Draw(), "\n")
	return first + "\n<style>\n" + colors + "</style>\n" + rest
}

// Style is the style sheet of pages with charts: the colours of both schemes
// and common rules.
//
//go:embed page.css
var Style string
