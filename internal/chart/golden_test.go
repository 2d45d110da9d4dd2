package chart_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"handloom/internal/chart"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestDraw_MatchesGoldenFiles(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(charts)) {
		path := filepath.Join("testdata", name+".html")
		got := chart.Figure(charts[name])
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
