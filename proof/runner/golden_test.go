package runner_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handloom/proof/runner"
	"handloom/proof/script"
)

var update = flag.Bool("update", false, "write testdata/golden/marks.txt anew")

// Marks depend only on observable state: rows, slots, freelists, generations,
// reports, digests. The body of a commit explains changed marks.
func TestGolden_ProgramsKeepTheirMarks(t *testing.T) {
	programs, err := filepath.Glob(filepath.Join("testdata", "golden", "*.program"))
	if err != nil || len(programs) == 0 {
		t.Fatal(programs, err)
	}
	file := filepath.Join("testdata", "golden", "marks.txt")
	golden, err := os.ReadFile(file)
	noError(t, err)
	var lines strings.Builder
	for _, name := range programs {
		text, err := os.ReadFile(name)
		noError(t, err)
		p, err := script.Parse(text, name)
		noError(t, err)
		var line string
		for _, workers := range []int{8, 1} {
			r := runner.Play(t.Context(), p, script.Config{Workers: workers})
			if r.Failure != nil {
				t.Fatalf("%s: %v", name, r.Failure)
			}
			sum := fnv.New64a()
			_, _ = sum.Write([]byte(strings.Join(r.Marks, "\n")))
			line = fmt.Sprintf("%s %d %016x %.16s\n", filepath.Base(name), len(r.Marks), sum.Sum64(), r.Marks[len(r.Marks)-1])
			if !*update && !strings.Contains(string(golden), line) {
				t.Errorf("with %d workers, got %swant\n%s", workers, line, golden)
			}
		}
		lines.WriteString(line)
	}
	if *update {
		noError(t, os.WriteFile(file, []byte(lines.String()), 0o644))
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
