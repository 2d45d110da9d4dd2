package main

import (
	"os"
	"strings"
	"testing"
)

func TestLLMs_ListsThePages(t *testing.T) {
	got, err := llms(os.DirFS("."), func(file string) string { return "guide/" + file })
	noError(t, err)
	if *update {
		noError(t, os.WriteFile("../llms.txt", []byte(got), 0o644))
	}
	if got != string(readFile(t, "../llms.txt")) {
		t.Error("../llms.txt differs from the pages; go test ./guide -update rewrites it")
	}
	if strings.Contains(got, "|") {
		t.Error("a note has the end of a row")
	}
	if n := strings.Count(got, "\n- "); n < 30 || n != len(read(t).Pages)-1 {
		t.Errorf("got %d pages, want %d", n, len(read(t).Pages)-1)
	}
}

func TestAbstract_IsTheFirstSentence(t *testing.T) {
	for page, want := range map[string]string{
		"# T\n\nOne [link](a.md) and\n`code`. Two.\n": "One link and `code`.",
		"# T\n\n**One: two.** Three.\n\n- a\n":        "One: two.",
		"# T\n\nVersion 1.5 runs\n":                   "Version 1.5 runs.",
		"# T\n\n- **A list.** Text.\n":                "",
		"# T\n\n| a | b |\n":                          "",
		"# T\n\n```go\nf()\n```\n":                    "",
	} {
		if got := abstract(page); got != want {
			t.Errorf("%q: got %q, want %q", page, got, want)
		}
	}
}
