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
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("testdata", name+".html")
			got := chart.Figure(charts[name])
			checkTexts(t, name, charts[name])
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the drawing differs; look at it, then run with -update:\n%s", diff)
			}
		})
	}
}
