package source_test

import (
	"fmt"
	"strings"
	"testing"

	"handloom/guide/internal/source"
)

var files = map[string]string{
	"a_test.go": `package a_test

// region types

type Ship struct {
	Hull int
}

// endregion

func Example_a() {
	for range 3 {
		// region loop
		if true {
			fmt.Println("first")
		}
		// endregion
		fmt.Println("hidden")
		// region loop
		fmt.Println("second")
		// endregion
	}
	// Output:
	// much
	// 	more
}
`,
	"open.go": "// region left\n",
	"in.go":   "// region a\n// region b\n// endregion\n",
}

func read(name string) (string, error) {
	text, ok := files[name]
	if !ok {
		return "", fmt.Errorf("%s: no such file", name)
	}
	return text, nil
}

func TestFill_TakesBlocksFromFiles(t *testing.T) {
	const page = "A page.\n\n```go a_test.go#loop\nold\n```\n\n```text\nkept\n```\n\n```go a_test.go#types\n```\n"
	const want = "A page.\n\n```go a_test.go#loop\nif true {\n\tfmt.Println(\"first\")\n}\n\nfmt.Println(\"second\")\n```\n\n" +
		"```text\nkept\n```\n\n```go a_test.go#types\ntype Ship struct {\n\tHull int\n}\n```\n"
	const output = "```text a_test.go#Example_a\nmuch\n\tmore\n```\n"
	for page, want := range map[string]string{page: want, want: want, "```text a_test.go#Example_a\n```\n": output} {
		if got, err := source.Fill(page, read); err != nil || got != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestFill_ShowsFileAsProgram(t *testing.T) {
	got, err := source.Fill("```go a_test.go\n```\n", read)
	if err != nil || !strings.Contains(got, "package main\n") || !strings.Contains(got, "func main() {\n") || strings.Contains(got, "region") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestFill_RefusesBadBlocks(t *testing.T) {
	for page, want := range map[string]string{
		"\n```go\nx := 1\n```\n":             "line 2: a block of Go names no file",
		"```go b.go#x\n```\n":                "b.go: no such file",
		"```go a_test.go#none\n```\n":        "a_test.go: no region none",
		"```text a_test.go#Example_b\n```\n": "no Example_b with an output",
		"```go open.go#left\n```\n":          "region left has no end",
		"```go in.go#a\n```\n":               "region b begins inside region a",
		"```text\n":                          "has no end",
	} {
		if _, err := source.Fill(page, read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", page, err, want)
		}
	}
}
