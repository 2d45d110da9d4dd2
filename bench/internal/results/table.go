package results

import (
	"fmt"
	"io"
	"math"
	"strings"

	"handloom/bench/internal/measure"
	"handloom/internal/report"
)

var Head = []string{"op", "n", "size", "workers", "impl", "median", "unit", "±", "vs first"}

// Rows returns the cells of the table by group. Cells equal to the cell above
// are empty.
func (r *Run) Rows() (groups [][][]string) {
	for _, group := range r.Groups() {
		var rows [][]string
		for i, result := range group {
			row := []string{"", "", "", report.CountOrEmpty(result.Workers), result.Impl, "", string(result.Unit), "", ""}
			if i == 0 {
				row[0], row[1], row[2] = result.Op, report.CountOrEmpty(result.N), report.CountOrEmpty(result.Size)
			}
			s := result.Summary()
			row[5], row[7] = report.Digits(s.Median), report.Share(s.Noise())
			if first := Reference(group, result); first != nil {
				row[8] = RatioOf(result, first).words(result.Unit)
			}
			rows = append(rows, row)
		}
		groups = append(groups, rows)
	}
	return groups
}

const (
	ratioNote = "vs first: the median of the ratios of the single rounds, in each of which both saw the same machine;\n" +
		"it is not the ratio of the medians"
	unknownNote = "±: ? where there are too few rounds to tell; 6 are needed"
)

func notes(groups [][][]string) (lines []string) {
	var ratios, unknowns bool
	for _, group := range groups {
		for _, row := range group {
			unknowns = unknowns || row[7] == "?"
			ratios = ratios || row[8] != ""
		}
	}
	if ratios {
		lines = append(lines, ratioNote)
	}
	if unknowns {
		lines = append(lines, unknownNote)
	}
	return lines
}

// words describes a ratio: "1.25x slower" took 1.25 times as long. Without a
// significant difference it has no word.
func (r Ratio) words(unit measure.Unit) string {
	if unit.HigherIsBetter() {
		r.Median = 1 / r.Median
	}
	more, less := "more", "less"
	if unit.HigherIsBetter() || strings.HasPrefix(string(unit), "ns/") || strings.HasPrefix(string(unit), "ms/") {
		more, less = "slower", "faster"
	}
	switch {
	case math.IsNaN(r.Median) || math.IsInf(r.Median, 0): // no second value
		return ""
	case !r.Apart:
		return fmt.Sprintf("%sx  %6s", report.Digits(r.Median), "")
	case r.Median > 1:
		return fmt.Sprintf("%sx  %6s", report.Digits(r.Median), more)
	}
	return fmt.Sprintf("%sx  %6s", report.Digits(1/r.Median), less)
}

func (r *Run) WriteTable(w io.Writer) error {
	t := report.NewTable(Head...)
	t.Left("op", "impl", "unit")
	groups := r.Rows()
	for i, group := range groups {
		if i > 0 {
			t.Row(make([]string, len(Head))...)
		}
		for _, row := range group {
			t.Row(row...)
		}
	}
	_, err := fmt.Fprintf(w, "%s\n%s\n\n", r.Command, r.Environment)
	if err == nil {
		_, err = t.WriteTo(w)
	}
	below := notes(groups)
	if r.Partial {
		below = append(below, "partial: interrupted before everything was measured")
	}
	if err == nil && len(below) > 0 {
		_, err = fmt.Fprintf(w, "\n%s\n", strings.Join(below, "\n"))
	}
	return err
}

func (r *Run) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "`%s`\n\n%s\n\n", r.Command, r.Environment)
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(Head)
	line([]string{"---", "--:", "--:", "--:", "---", "--:", "---", "--:", "--:"})
	groups := r.Rows()
	for _, group := range groups {
		for _, row := range group {
			for i := range row {
				row[i] = strings.Join(strings.Fields(row[i]), " ")
			}
			line(row)
		}
	}
	for _, note := range notes(groups) {
		fmt.Fprintf(&b, "\n%s.\n", strings.ReplaceAll(note, "\n", " "))
	}
	if r.Partial {
		b.WriteString("\nPartial: interrupted before everything was measured.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e Environment) String() string {
	return fmt.Sprintf("%s %s/%s, %s, %d processors, GOMAXPROCS %d, GOGC %s, revision %s, %s, seed %d, %d rounds of %s",
		e.Go, e.GOOS, e.GOARCH, e.CPU, e.CPUs, e.GOMAXPROCS, e.GOGC, e.Revision, e.Date, e.Seed, e.Rounds, e.BenchTime)
}
