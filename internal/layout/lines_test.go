package layout

import (
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// apparatus are the folders of programs, examples and proofs around the library.
var apparatus = re(`^(stress|bench|guide|proof|cluster/(internal|cmd)|internal/(chart|trace|browser|report|layout|localpage|cli))/`)

// maxSlack is the number of lines that changes may remove from a room before its ceiling has to fall.
const maxSlack = 9

// The file has a ceiling for each room, for its tests, and for three sums. -update lowers ceilings
// and raises none: to move lines from one room to another, edit the file; the sums stay.
func TestLines_StayBelowTheirCeilings(t *testing.T) {
	const file = "testdata/lines.txt"
	lines, ceilings := countLines(t), map[string]int{}
	text, err := os.ReadFile(file)
	noError(t, err)
	for line := range strings.Lines(string(text)) {
		room, n, _ := strings.Cut(strings.TrimSpace(line), ": ")
		ceilings[room], err = strconv.Atoi(n)
		noError(t, err)
	}
	var lowered strings.Builder
	for _, room := range slices.Sorted(maps.Keys(lines)) {
		n, most := lines[room], ceilings[room]
		if n > most || n < most-maxSlack && !*update {
			t.Errorf("%s: got %d code lines, want at most %d and at least %d (lower a ceiling by -update)", room, n, most, most-maxSlack)
		}
		fmt.Fprintf(&lowered, "%s: %d\n", room, min(n, most))
	}
	if *update {
		noError(t, os.WriteFile(file, []byte(lowered.String()), 0o600))
	}
}

// countLines returns the lines that are neither blank nor comments.
func countLines(t *testing.T) map[string]int {
	t.Helper()
	lines := map[string]int{}
	eachFile(t, repository, func(file, text string) {
		room, kind := room(file), "total library"
		if room == "internal" {
			room = path.Join(room, strings.Split(file, "/")[1])
		}
		switch {
		case !isCode(file):
			room, kind = room+" tests", "total tests"
		case apparatus.MatchString(file):
			kind = "total apparatus"
		}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[room]++
				lines[kind]++
			}
		}
	}, isGo)
	return lines
}
