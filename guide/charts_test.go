package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"handloom/internal/chart"
)

// benchmarkCharts returns a chart for each table of medians in benchmarks.md, by file name.
func benchmarkCharts(t *testing.T, page string) map[string]chart.Chart {
	t.Helper()
	charts := make(map[string]chart.Chart)
	heading := ""
	var header []string
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		if h, is := strings.CutPrefix(line, "## "); is {
			heading, header = h, nil
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case len(cells) < 4 || strings.HasPrefix(cells[0], "--"):
		case cells[0] == "impl" || cells[0] == "workers":
			header = cells
		default:
			name := "chart-" + strings.ReplaceAll(strings.ToLower(heading), " ", "-") + ".svg"
			b, _ := charts[name].(chart.Bars)
			b.Title, b.Series = heading, []string{"median"}
			b.Unit = chart.Nanoseconds
			b.Groups = append(b.Groups, group(t, header, cells))
			charts[name] = b
		}
	}
	return charts
}

// group returns a row of a table as a group with one value.
func group(t *testing.T, header, cells []string) chart.Group {
	t.Helper()
	g, v, share := chart.Group{}, math.NaN(), 0.0
	for i, name := range header[:min(len(header), len(cells))] {
		cell := strings.TrimSpace(cells[i])
		number, err := strconv.ParseFloat(strings.TrimSuffix(strings.ReplaceAll(cell, ",", ""), " %"), 64)
		switch name {
		case "impl":
			g.Name = cell + g.Name
			continue
		case "workers":
			g.Name = ", workers " + cell
		case "median":
			v = number
		case "±":
			share = number / 100
		case "unit":
			if cell == "ms/gc" {
				v *= 1e6
			}
			continue
		default:
			continue
		}
		noError(t, err)
	}
	g.Values = []chart.Value{{At: v, Low: v * (1 - share), High: v * (1 + share)}}
	return g
}

func TestBenchmarksPage_HasCharts(t *testing.T) {
	page := string(readFile(t, "benchmarks.md"))
	charts := benchmarkCharts(t, page)
	for name, c := range charts {
		path, want := filepath.Join("pictures", name), chart.Image(c)
		if *update {
			noError(t, os.WriteFile(path, []byte(want), 0o644))
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s differs from the tables of benchmarks.md (%v); go test ./guide -update rewrites it", path, err)
		}
		if !strings.Contains(page, "](pictures/"+name+")") {
			t.Errorf("benchmarks.md does not show %s", name)
		}
	}
	files, err := filepath.Glob("pictures/chart-*.svg")
	if err != nil || len(files) != len(charts) || len(charts) < 5 {
		t.Errorf("charts: got %d files, %v, want %d, one for each table, and at least 5", len(files), err, len(charts))
	}
}
