package chart

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

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

func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	light, dark, found := strings.Cut(Style, "prefers-color-scheme: dark")
	all := make(map[string]map[string]string)
	for name, text := range map[string]string{"light": light, "dark": dark} {
		all[name] = make(map[string]string)
		for _, m := range regexp.MustCompile(`--(\w+): (#\w{6});`).FindAllStringSubmatch(text, -1) {
			all[name][m[1]] = m[2]
		}
		if len(all[name]) != 9+colors || !found {
			t.Fatalf("%s: colors %v, want %d", name, all[name], 9+colors)
		}
	}
	return all
}

func TestColours_HaveContrast(t *testing.T) {
	for name, theme := range themes(t) {
		for _, text := range []string{theme["ink"], theme["faint"], theme["link"]} {
			for _, behind := range []string{theme["paper"], theme["back"]} {
				if c := contrast(text, behind); c < 4.5 {
					t.Errorf("%s: text of %s on %s has a contrast of %.2f; want 4.5 (WCAG AA)", name, text, behind, c)
				}
			}
		}
		var series []string
		for i := range colors {
			series = append(series, theme["s"+strconv.Itoa(i)])
		}
		for _, mark := range append(series, theme["axis"], theme["good"], theme["bad"]) {
			if c := contrast(mark, theme["paper"]); c < 3 {
				t.Errorf("%s: %s has a contrast of %.2f with the paper; want 3", name, mark, c)
			}
		}
		for i, a := range series {
			for _, b := range series[:i] {
				if d := math.Abs(lightness(a) - lightness(b)); d < 8 {
					t.Errorf("%s: %s and %s differ by %.1f in lightness; want 8", name, a, b, d)
				}
			}
		}
	}
}

func TestSeries_DifferInDashAndMarker(t *testing.T) {
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
