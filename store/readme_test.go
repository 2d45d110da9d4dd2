package store_test

import (
	"os"
	"strings"
	"testing"
)

// The Go blocks of the README, in order, are parts of files that go test compiles
// and runs.
func TestReadmeShowsTheExamples(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	asProgram := strings.NewReplacer("package store_test\n", "package main\n", "func Example() {", "func main() {", "func Example_tour() {", "func main() {")
	rest := string(readme)
	for _, file := range []string{"example_readme_test.go", "../shard/handlemap/example_test.go", "example_tour_test.go"} {
		_, block, found := strings.Cut(rest, "```go\n")
		block, after, closed := strings.Cut(block, "```\n")
		if !found || !closed {
			t.Fatalf("the README has no Go block that shows %s", file)
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(squeeze(asProgram.Replace(string(source))), squeeze(block)) {
			t.Errorf("this block of the README is not in %s:\n%s", file, block)
		}
		rest = after
	}
	if strings.Contains(rest, "```go\n") {
		t.Error("the README has a Go block that no test compiles")
	}
}

// squeeze drops indentation and blank lines.
func squeeze(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
