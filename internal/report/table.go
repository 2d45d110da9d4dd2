package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table prints columns as wide as their widest cell, right-aligned except those passed to
// [Table.Left].
type Table struct {
	rows [][]string // header first
	left []bool
}

// NewTable returns a table with the given column names.
func NewTable(columns ...string) *Table {
	return &Table{rows: [][]string{columns}, left: make([]bool, len(columns))}
}

// Left makes the named columns left-aligned.
func (t *Table) Left(columns ...string) {
	for i, name := range t.rows[0] {
		t.left[i] = t.left[i] || slices.Contains(columns, name)
	}
}

// Row panics unless it has one cell per column.
func (t *Table) Row(cells ...string) {
	if len(cells) != len(t.rows[0]) {
		panic(fmt.Sprintf("report: a row of %d cells in a table of %d columns", len(cells), len(t.rows[0])))
	}
	t.rows = append(t.rows, cells)
}

// WriteTo writes the header and the rows. Two spaces separate columns, and lines have no
// trailing space.
func (t *Table) WriteTo(w io.Writer) (int64, error) {
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			width := widths[i]
			if t.left[i] {
				width = -width
			}
			fmt.Fprintf(&line, "%*s", width, cell)
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		b.WriteByte('\n')
	}
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}
