package chart

import (
	"math"
	"strconv"
	"testing"
)

// luminance returns how bright a colour is, 0 to 1, as WCAG has it.
func luminance(color string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			panic(err)
		}
		c := float64(v) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}

func lightness(color string) float64 {
	y := luminance(color)
	if y < 0.008856 {
		return 903.3 * y
	}
	return 116*math.Cbrt(y) - 16
}

func TestColoursDifferInGreyAndStandOutFromThePaper(t *testing.T) {
	for i, a := range palette {
		if contrast := 1.05 / (luminance(a) + 0.05); contrast < 3 {
			t.Errorf("%s has a contrast of %.2f with the paper; want 3", a, contrast)
		}
		for _, b := range palette[:i] {
			if d := math.Abs(lightness(a) - lightness(b)); d < 8 {
				t.Errorf("%s and %s differ by %.1f in lightness; want 8", a, b, d)
			}
		}
	}
}

func TestNeighboursDifferInDashAndMarker(t *testing.T) {
	seen := make(map[look]int)
	for i := range 6 {
		l := lookOf(i)
		if j, ok := seen[l]; ok {
			t.Errorf("series %d looks like series %d", i, j)
		}
		seen[l] = i
		if next := lookOf(i + 1); next.dash == l.dash || next.shape == l.shape {
			t.Errorf("series %d and %d share dash or marker", i, i+1)
		}
	}
}
