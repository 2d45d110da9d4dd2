package chart_test

import (
	"encoding/xml"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handloom/internal/chart"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

var since = chart.Axis{Title: "time since the start", Unit: chart.Nanoseconds}

var charts = map[string]chart.Chart{
	"lines": chart.Lines{
		Title: "Flush time, per interval", X: since, Y: chart.Axis{Title: "flush time", Unit: chart.Nanoseconds},
		Series: []chart.Series{
			{Name: "p50", Points: []chart.Point{{X: 1e9, Y: 40e3}, {X: 2e9, Y: math.NaN()}, {X: 3e9, Y: 44e3}, {X: 9e9, Y: 30e3}}},
			{Name: "p99", Points: []chart.Point{{X: 1e9, Y: 95e3}, {X: 4e9, Y: 115e3}, {X: 9e9, Y: 0}}},
		},
	},
	"empty": chart.Lines{Title: "Nothing", X: since, Y: chart.Axis{Title: "heap", Unit: chart.Bytes}, Series: []chart.Series{{Name: "heap"}}},
	"bars": chart.Bars{
		Title: "Time per item", Unit: chart.Nanoseconds, Series: []string{"100,000 items", "1,000,000 items"},
		Groups: []chart.Group{
			{"create one by one, reserved / map[uint64]T, with a long name", []chart.Value{{25, 24, 26}, {114, 100, 120}}},
			{"erase all, with <a> & \"quotes\"", []chart.Value{{8.9, 8, 10}, {At: math.NaN()}}},
			{"iterate", []chart.Value{{0.28, math.Inf(-1), math.Inf(1)}, {At: 0.35}}},
		},
	},
}

func TestDraw_MatchesGoldenFiles(t *testing.T) {
	for name, c := range charts {
		path, got := filepath.Join("testdata", name+".html"), chart.Figure(c)
		var written error
		if *update {
			written = os.WriteFile(path, []byte(got), 0o644)
		}
		want, err := os.ReadFile(path)
		if diff := cmp.Diff(string(want), got); written != nil || err != nil || diff != "" {
			t.Errorf("%s: %v, %v; look at the difference, then run with -update:\n%s", name, written, err, diff)
		}
	}
}

func TestChart_EscapesText(t *testing.T) {
	const evil = "</svg><script>\"'&\x1b\x00\xff\uffff"
	axis := chart.Axis{Title: evil}
	for _, c := range []chart.Chart{
		chart.Lines{Title: evil, X: axis, Y: axis, Series: []chart.Series{{Name: evil}, {Name: evil, Points: []chart.Point{{X: 1, Y: 2}, {X: 3, Y: 4}}}}},
		chart.Bars{Title: evil, Series: []string{evil, evil}, Groups: []chart.Group{{evil, []chart.Value{{At: 1}, {At: 2}}}}},
	} {
		svg := c.Draw()
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Error(err)
		}
		if strings.Contains(svg, "<script") || strings.ContainsAny(svg, "\x1b\x00\uffff") || strings.Count(svg, "</svg>") != 1 || strings.Count(svg, "&lt;/svg&gt;&lt;script&gt;") < 4 {
			t.Errorf("something came through, or texts are missing:\n%s", svg)
		}
	}
}
