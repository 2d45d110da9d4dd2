package chart_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"handloom/internal/chart"
)

type box struct {
	text                     string
	left, right, top, bottom float64
}

// boxes returns the place of every text of a valid drawing, and its size. Its
// widths are averages of common sans-serif fonts, independent of the package.
func boxes(t *testing.T, svg string) (all []box, w, h float64) {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		return v
	}
	d := xml.NewDecoder(strings.NewReader(svg))
	font := 0.0
	var open *box
	for {
		token, err := d.Token()
		if err == io.EOF {
			return all, w, h
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch e := token.(type) {
		case xml.StartElement:
			a := make(map[string]string)
			for _, attr := range e.Attr {
				a[attr.Name.Local] = attr.Value
			}
			switch e.Name.Local {
			case "svg":
				w, h, font = number(a["width"]), number(a["height"]), number(a["font-size"])
				if a["viewBox"] != "0 0 "+a["width"]+" "+a["height"] {
					t.Errorf("the view box is %s", a["viewBox"])
				}
			case "text":
				size := font
				if a["font-size"] != "" {
					size = number(a["font-size"])
				}
				x, y := number(a["x"]), number(a["y"])
				open = &box{a["text-anchor"], x, size, y - size*0.75, y + size*0.2}
			}
		case xml.CharData:
			if open == nil {
				continue
			}
			anchor, x, wide := open.text, open.left, open.right*0.58*float64(utf8.RuneCount(e))
			open.text, open.left, open.right = string(e), x, x+wide
			switch anchor {
			case "middle":
				open.left, open.right = x-wide/2, x+wide/2
			case "end":
				open.left, open.right = x-wide, x
			}
			all = append(all, *open)
		case xml.EndElement:
			open = nil
		}
	}
}

func crowded(all []box, w, h float64) string {
	for i, a := range all {
		if a.left < 0 || a.right > w || a.top < 0 || a.bottom > h {
			return fmt.Sprintf("%q leaves the drawing of %g by %g: %+v", a.text, w, h, a)
		}
		for _, b := range all[:i] {
			if a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom {
				return fmt.Sprintf("%q and %q overlap: %+v, %+v", a.text, b.text, a, b)
			}
		}
	}
	return ""
}

func checkTexts(t *testing.T, name string, c chart.Chart) {
	t.Helper()
	if what := crowded(boxes(t, c.Draw())); what != "" {
		t.Fatalf("%s: %s", name, what)
	}
}

func TestChart_TextsKeepApart(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		checkTexts(t, fmt.Sprintf("lines, seed %d", seed), randomLines(r))
		checkTexts(t, fmt.Sprintf("bars, seed %d", seed), randomBars(r))
	}
}

func words(r *rand.Rand, n int) string {
	var list []string
	for range 1 + r.IntN(n) {
		list = append(list, strings.Repeat("n", 1+r.IntN(9)))
	}
	return strings.Join(list, " ")
}

func randomAxis(r *rand.Rand) chart.Axis {
	return chart.Axis{Title: words(r, 15), Unit: chart.Unit(r.IntN(3)), Scale: chart.Scale(r.IntN(2))}
}

func randomValue(r *rand.Rand) float64 {
	v := float64(r.IntN(1000) - 20)
	for range r.IntN(8) {
		v *= 10
	}
	return v
}

func randomInterval(r *rand.Rand) chart.Value {
	v := chart.Value{At: randomValue(r)}
	switch r.IntN(3) {
	case 0:
		v.Low, v.High = math.Inf(-1), math.Inf(1)
	case 1:
		v.Low, v.High = v.At-math.Abs(v.At)*r.Float64(), v.At+math.Abs(v.At)*10*r.Float64()
	}
	return v
}

func randomLines(r *rand.Rand) chart.Lines {
	l := chart.Lines{Title: words(r, 20), X: randomAxis(r), Y: randomAxis(r)}
	l.X.Scale, l.Y.Scale = chart.Linear, chart.Linear
	for range r.IntN(9) {
		s := chart.Series{Name: words(r, 8)}
		x := 0.0
		for range r.IntN(40) {
			x += float64(r.IntN(1000))
			s.Points = append(s.Points, chart.Point{X: x, Y: randomValue(r)})
		}
		l.Series = append(l.Series, s)
	}
	return l
}

func randomBars(r *rand.Rand) chart.Bars {
	b := chart.Bars{Title: words(r, 20), X: randomAxis(r), Note: words(r, 30)}
	for range 1 + r.IntN(4) {
		b.Series = append(b.Series, words(r, 5))
	}
	for range r.IntN(8) {
		g := chart.Group{Name: words(r, 12)}
		for range r.IntN(len(b.Series) + 1) {
			g.Values = append(g.Values, randomInterval(r))
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}
