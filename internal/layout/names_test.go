package layout

import (
	"path"
	"strings"
	"testing"
)

func TestExamples_ImportNoEngine(t *testing.T) {
	eachFile(t, repository, func(file, text string) {
		if strings.Contains(text, `"handloom/batch"`) || strings.Contains(text, `"handloom/shard"`) {
			t.Errorf("%s imports the engine", file)
		}
	}, func(file string) bool {
		page := room(file) == "guide" && strings.HasSuffix(file, ".md")
		example := strings.HasPrefix(path.Base(file), "example_") && strings.HasSuffix(file, "_test.go")
		return page || example && room(file) != "batch" && room(file) != "shard"
	})
}

func TestRooms_HoldAtMostTheirShare(t *testing.T) {
	const maxPercent = 20
	lines, all := map[string]int{}, 0
	eachFile(t, repository, func(file, text string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[room(file)]++
				all++
			}
		}
	}, isCode)
	for room, n := range lines {
		percent := 100 * float64(n) / float64(all)
		if t.Logf("%-10s %5d code lines, %4.1f %%", room, n, percent); percent > maxPercent {
			t.Errorf("%s: got %.1f %% of the code lines, want at most %d", room, percent, maxPercent)
		}
	}
}
