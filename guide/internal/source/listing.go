package source

import (
	"fmt"
	"regexp"
	"strings"
)

// fence is a line that opens or closes a block: its indentation, language and source.
var fence = regexp.MustCompile("^( *)```(?:([a-z]+)(?: (\\S+))?)?$")

// Fill returns the page with the code of the files that its blocks name. read returns the
// text of a file of the repository. A block of Go without a file is an error.
func Fill(page string, read func(file string) (string, error)) (string, error) {
	var b strings.Builder
	inside, replaced := false, false
	number := 0
	for line := range strings.Lines(page) {
		number++
		m := fence.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case m == nil && inside && replaced:
			continue
		case m == nil:
		case inside:
			inside, replaced = false, false
		default:
			inside = true
			code, found, err := source(m[2], m[3], read)
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

// source returns the code of a block, and whether it comes from a file.
func source(language, from string, read func(file string) (string, error)) (code string, found bool, err error) {
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
		return program(text), true, nil
	}
	take := Region
	if strings.HasPrefix(region, "Example") {
		take = output
	}
	code, err = take(text, region)
	if err != nil {
		return "", false, fmt.Errorf("%s: %w", file, err)
	}
	return code, true, nil
}

// Region returns the pieces of a region, without the indentation that they share.
func Region(text, name string) (string, error) {
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
		case isEnd(line):
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
		all = append(all, outdent(piece)...)
	}
	return strings.Join(all, "\n") + "\n", nil
}

// output returns the output of an example, the comment at its end.
func output(text, example string) (string, error) {
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

func isEnd(line string) bool { return strings.TrimSpace(line) == "// endregion" }

// outdent removes the common indentation, and empty lines around the text.
func outdent(lines []string) []string {
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
	testPackage = regexp.MustCompile(`(?m)^package \w+_test$`)
	testMain    = regexp.MustCompile(`(?m)^func Example\w*\(\) \{$`)
)

// program returns the file of an example as a program whose main is the example.
func program(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "// region ") && !isEnd(line) {
			b.WriteString(line)
		}
	}
	return testMain.ReplaceAllString(testPackage.ReplaceAllString(b.String(), "package main"), "func main() {")
}
