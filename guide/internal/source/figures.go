package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// figures returns what a page of measurements has under a name: "targets" is every
// target and how often it was met, "machine" what that was measured on, any other name
// the lines of that operation.
func figures(page, name string) (string, error) {
	switch name {
	case "targets":
		return targets(page)
	case "machine":
		return machine(page)
	}
	return operation(page, name)
}

var run = regexp.MustCompile(`(?m)^(go1\..*), revision .* seed `)

func machine(page string) (string, error) {
	line := run.FindStringSubmatch(page)
	if line == nil {
		return "", fmt.Errorf("no line tells the machine")
	}
	return line[1] + "\n", nil
}

// cells returns the cells of a line of a table; nil if it is none.
func cells(line string) []string {
	line = strings.TrimSpace(line)
	if len(line) < 2 || !strings.HasPrefix(line, "|") || !strings.HasSuffix(line, "|") {
		return nil
	}
	all := strings.Split(line[1:len(line)-1], "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// operation returns the lines of an operation in the table whose first column is "op":
// the one that names it, and those behind that leave the name out. Columns that the
// first of them fills for all are left out.
func operation(page, name string) (string, error) {
	var head []string
	var rows [][]string
	for line := range strings.Lines(page) {
		row := cells(line)
		switch {
		case len(row) > 0 && row[0] == "op":
			head = row
		case len(row) != len(head) || len(row) == 0:
			head = nil
		case row[0] == name, row[0] == "" && len(rows) > 0:
			rows = append(rows, row)
		case len(rows) > 0:
			return aligned(head, rows), nil
		}
	}
	return "", fmt.Errorf("no table has lines of %s", name)
}

// aligned returns the lines of a table as text, figures to the right.
func aligned(head []string, rows [][]string) string {
	lines := make([]string, 1+len(rows))
	for c, title := range head {
		if !slices.ContainsFunc(rows[1:], func(row []string) bool { return row[c] != "" }) {
			continue
		}
		column := []string{title}
		wide := 0
		for _, row := range rows {
			column = append(column, row[c])
		}
		for _, cell := range column {
			wide = max(wide, utf8.RuneCountInString(cell))
		}
		for i, cell := range column {
			room := strings.Repeat(" ", wide-utf8.RuneCountInString(cell))
			if title == "impl" || title == "unit" {
				cell += room
			} else {
				cell = room + cell
			}
			lines[i] += cell + "  "
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// verdict is a line of what was measured for a target.
var verdict = regexp.MustCompile(`(?m)^(P\d+) .* (met|missed)$`)

// targets returns the targets of the table whose first column is "id", each with the
// number of lines that met it in the run that the page shows.
func targets(page string) (string, error) {
	met, of := make(map[string]int), make(map[string]int)
	for _, m := range verdict.FindAllStringSubmatch(page, -1) {
		of[m[1]]++
		if m[2] == "met" {
			met[m[1]]++
		}
	}
	var b strings.Builder
	inside := false
	for line := range strings.Lines(page) {
		row := cells(strings.ReplaceAll(line, "`", ""))
		switch {
		case len(row) != 3:
			inside = false
		case row[0] == "id":
			inside = true
		case inside && of[row[0]] > 0:
			fmt.Fprintf(&b, "%s  %s\n     %s\n     met %d of %d\n", row[0], row[1], row[2], met[row[0]], of[row[0]])
		case inside && strings.HasPrefix(row[0], "P"):
			fmt.Fprintf(&b, "%s  %s\n     %s\n     not in this run\n", row[0], row[1], row[2])
		}
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("no table has targets")
	}
	return b.String(), nil
}
