package targets

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"handloom/internal/report"
)

var Head = []string{"id", "n", "size", "work", "value", "±", "target", ""}

func (t Target) Row() []string {
	return []string{
		t.ID, report.CountOrEmpty(t.N), report.CountOrEmpty(t.Size), t.Work,
		digits(t.Value.Median), report.Share(t.Value.Noise()), t.limit(), t.verdict(),
	}
}

func (t Target) verdict() string {
	switch {
	case !t.Promise:
		return ""
	case t.Met:
		return "met"
	}
	return "missed"
}

func Write(w io.Writer, targets []Target) error {
	t := report.NewTable(Head...)
	t.Left("id", "work", "")
	for _, target := range targets {
		t.Row(target.Row()...)
	}
	met, promised := Met(targets)
	if _, err := t.WriteTo(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%d of %d targets met\n", met, promised)
	return err
}

// Met returns the number of promised targets that are met, and of all promised
// targets.
func Met(targets []Target) (met, promised int) {
	for _, t := range targets {
		if t.Promise {
			promised++
			if t.Met {
				met++
			}
		}
	}
	return met, promised
}

func (t Target) limit() string {
	switch {
	case !t.Promise:
		return ""
	case t.Higher:
		return ">= " + digits(t.Limit)
	}
	return "<= " + digits(t.Limit)
}

// digits formats v with enough digits to compare it with a limit.
func digits(v float64) string {
	if math.Abs(v) < 1 {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return report.Digits(v)
}
