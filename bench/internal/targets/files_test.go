package targets_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"handloom/bench/internal/results"
)

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bench/targets.txt is an output of -targets on two processors: it has every line of the
// contract, in order. bench/README.md has a reason for each missed target.
func TestTargetsFile_MatchesContractAndReasons(t *testing.T) {
	var rows []string
	for line := range strings.Lines(readFile(t, "../../targets.txt")) {
		if regexp.MustCompile(`^([PQR]\d+|M) `).MatchString(line) {
			rows = append(rows, strings.Join(strings.Fields(line), " "))
		}
	}
	p := plan(2)
	all := evaluateOnes(p)
	if len(rows) != len(all) {
		t.Fatalf("targets.txt has %d rows, want %d", len(rows), len(all))
	}
	readme := readFile(t, "../../README.md")
	_, reasons, _ := strings.Cut(readme, "\n## Missed targets\n")
	for i, target := range all {
		cells := target.Row()
		want := strings.Join(strings.Fields(strings.Join(cells[:4], " ")), " ")
		limit := strings.Join(strings.Fields(cells[6]), " ")
		verdict := ""
		if target.Promise {
			verdict = " (met|missed)"
			limit = " " + limit
		}
		form := regexp.MustCompile("^" + regexp.QuoteMeta(want) + ` \S+ \d+ %` + regexp.QuoteMeta(limit) + verdict + "$")
		if !form.MatchString(rows[i]) {
			t.Errorf("targets.txt has %q, want the form %v", rows[i], form)
		}
		if strings.HasSuffix(rows[i], " missed") && !regexp.MustCompile(target.ID+`\b`).MatchString(reasons) {
			t.Errorf("README.md has no reason for the missed %s", target.ID)
		}
	}
}

// bench/results.md is an output of -format md: it has the columns of today.
func TestResultsFile_HasColumnsOfTables(t *testing.T) {
	if head := "\n| " + strings.Join(results.Head, " | ") + " |\n"; !strings.Contains(readFile(t, "../../results.md"), head) {
		t.Errorf("results.md lacks the line %q", head)
	}
}
