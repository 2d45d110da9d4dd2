package main

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// codeFence is a line that opens or closes a block: its indentation, language and source.
var codeFence = regexp.MustCompile("^( *)```(?:([a-z]+)(?: (\\S+))?)?$")

// fillPage returns the page with the code of the files that its blocks name, which go test compiles and
// runs. read returns the
// text of a file of the repository. A block of Go without a file is an error.
//
// A block of Go names its source after its language:
//
//	```go store/example_test.go            the whole file, as a program with a main
//	```go store/example_test.go#flush      the region with that name
//	```text store/example_test.go#Example  the output of that example
//	```text cluster/server.conf#rights     a region of a file that is not Go
//
// In the file a region lies between two comments. A region may have several pieces;
// an empty line joins them.
//
//	// region flush
//	report, err := s.Flush(ctx)
//	// endregion
func fillPage(page string, read func(file string) (string, error)) (string, error) {
	var b strings.Builder
	inside, replaced := false, false
	number := 0
	for line := range strings.Lines(page) {
		number++
		m := codeFence.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case m == nil && inside && replaced:
			continue
		case m == nil:
		case inside:
			inside, replaced = false, false
		default:
			inside = true
			code, found, err := blockCode(m[2], m[3], read)
			if err != nil {
				return "", fmt.Errorf("line %d: %w", number, err)
			}
			replaced = found
			line += code
		}
		b.WriteString(line)
	}
	if inside {
		return "", fmt.Errorf("the last block of code has no end")
	}
	return b.String(), nil
}

// blockCode returns the code of a block, and whether it comes from a file.
func blockCode(language, from string, read func(file string) (string, error)) (code string, found bool, err error) {
	if from == "" {
		if language == "go" {
			return "", false, fmt.Errorf("a block of Go names no file: write ```go FILE#REGION")
		}
		return "", false, nil
	}
	file, region, part := strings.Cut(from, "#")
	text, err := read(file)
	if err != nil {
		return "", false, err
	}
	if !part {
		return asProgram(text), true, nil
	}
	take := regionOf
	if strings.HasPrefix(region, "Example") {
		take = outputOf
	}
	code, err = take(text, region)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", file, err)
	}
	return code, true, nil
}

// regionOf returns the pieces of a region, without the indentation that they share.
func regionOf(text, name string) (string, error) {
	var pieces [][]string
	open := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		begins, isBegin := strings.CutPrefix(strings.TrimSpace(line), "// region ")
		switch {
		case isBegin && open != "":
			return "", fmt.Errorf("region %s begins inside region %s", begins, open)
		case isBegin:
			if open = begins; open == name {
				pieces = append(pieces, nil)
			}
		case endsRegion(line):
			open = ""
		case open == name:
			pieces[len(pieces)-1] = append(pieces[len(pieces)-1], line)
		}
	}
	if open != "" {
		return "", fmt.Errorf("region %s has no end", open)
	}
	if len(pieces) == 0 {
		return "", fmt.Errorf("no region %s", name)
	}
	var all []string
	for i, piece := range pieces {
		if i > 0 {
			all = append(all, "")
		}
		all = append(all, outdented(piece)...)
	}
	return strings.Join(all, "\n") + "\n", nil
}

// outputOf returns the output of an example, the comment at its end.
func outputOf(text, example string) (string, error) {
	_, body, found := strings.Cut(text, "\nfunc "+example+"() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	_, says, ends := strings.Cut(body, "\t// Output:\n")
	if !found || !ends {
		return "", fmt.Errorf("no %s with an output", example)
	}
	var b strings.Builder
	for line := range strings.Lines(says) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "//")
		b.WriteString(strings.TrimPrefix(line, " ") + "\n")
	}
	return b.String(), nil
}

func endsRegion(line string) bool { return strings.TrimSpace(line) == "// endregion" }

// outdented removes the common indentation, and empty lines around the text.
func outdented(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	least := -1
	for _, l := range lines {
		if rest := strings.TrimLeft(l, "\t"); rest != "" && (least < 0 || len(l)-len(rest) < least) {
			least = len(l) - len(rest)
		}
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l[min(max(least, 0), len(l)):]
	}
	return out
}

var (
	packageOfTest = regexp.MustCompile(`(?m)^package \w+_test$`)
	exampleMain   = regexp.MustCompile(`(?m)^func Example\w*\(\) \{$`)
)

// asProgram returns the file of an example as a program whose main is the example.
func asProgram(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "// region ") && !endsRegion(line) {
			b.WriteString(line)
		}
	}
	return exampleMain.ReplaceAllString(packageOfTest.ReplaceAllString(b.String(), "package main"), "func main() {")
}

var exampleFiles = map[string]string{
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

func readExample(name string) (string, error) {
	text, ok := exampleFiles[name]
	if !ok {
		return "", fmt.Errorf("%s: no such file", name)
	}
	return text, nil
}

func TestFillPage_TakesBlocksFromFiles(t *testing.T) {
	const page = "A page.\n\n```go a_test.go#loop\nold\n```\n\n```text\nkept\n```\n\n```go a_test.go#types\n```\n"
	const want = "A page.\n\n```go a_test.go#loop\nif true {\n\tfmt.Println(\"first\")\n}\n\nfmt.Println(\"second\")\n```\n\n" +
		"```text\nkept\n```\n\n```go a_test.go#types\ntype Ship struct {\n\tHull int\n}\n```\n"
	const output = "```text a_test.go#Example_a\nmuch\n\tmore\n```\n"
	for page, want := range map[string]string{page: want, want: want, "```text a_test.go#Example_a\n```\n": output} {
		if got, err := fillPage(page, readExample); err != nil || got != want {
			t.Errorf("%v\n%s", err, got)
		}
	}
}

func TestFillPage_ShowsFileAsProgram(t *testing.T) {
	got, err := fillPage("```go a_test.go\n```\n", readExample)
	if err != nil || !strings.Contains(got, "package main\n") || !strings.Contains(got, "func main() {\n") || strings.Contains(got, "region") {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestFillPage_RefusesBadBlocks(t *testing.T) {
	for page, want := range map[string]string{
		"\n```go\nx := 1\n```\n":             "line 2: a block of Go names no file",
		"```go b.go#x\n```\n":                "b.go: no such file",
		"```go a_test.go#none\n```\n":        "a_test.go: no region none",
		"```text a_test.go#Example_b\n```\n": "no Example_b with an output",
		"```go open.go#left\n```\n":          "region left has no end",
		"```go in.go#a\n```\n":               "region b begins inside region a",
		"```text\n":                          "has no end",
	} {
		if _, err := fillPage(page, readExample); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", page, err, want)
		}
	}
}
