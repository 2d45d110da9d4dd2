package results

import (
	"fmt"
	"io"

	"handloom/bench/internal/measure"
	"handloom/internal/report"
	"handloom/internal/stats"
)

// significant is below which chance of being alike two runs differ.
const significant = 0.05

// Change is how a case of one run has come out in a later one.
type Change struct {
	Before, After *measure.Result
	Delta         float64 // share by which the median has grown
	P             float64 // chance that they are alike
	Verdict       Verdict
}

// Verdict says what a change means.
type Verdict string

// The verdicts.
const (
	Same       Verdict = ""
	Better     Verdict = "better"
	Worse      Verdict = "worse, within the threshold"
	Regression Verdict = "REGRESSION"
)

// Compare returns how the cases of both runs have changed, in the order of after,
// and the names of those that only one of them has. A case is a regression when it
// is worse by more than the threshold, a share, and the chance that the samples
// are alike is below 5 %. It fails on a case whose unit has changed.
func Compare(before, after *Run, threshold float64) (changes []Change, alone []string, err error) {
	old := make(map[string]*measure.Result)
	for i := range before.Results {
		old[before.Results[i].Name()] = &before.Results[i]
	}
	for i := range after.Results {
		a := &after.Results[i]
		b := old[a.Name()]
		switch delete(old, a.Name()); {
		case len(a.Samples) == 0:
		case b == nil:
			alone = append(alone, a.Name())
		case b.Unit != a.Unit:
			return nil, nil, fmt.Errorf("%s is in %s, and was in %s", a.Name(), a.Unit, b.Unit)
		default:
			changes = append(changes, change(b, a, threshold))
		}
	}
	for i := range before.Results {
		if name := before.Results[i].Name(); old[name] != nil {
			alone = append(alone, name)
		}
	}
	return changes, alone, nil
}

func change(before, after *measure.Result, threshold float64) Change {
	old, now := stats.Median(before.Values()), stats.Median(after.Values())
	c := Change{Before: before, After: after, P: stats.MannWhitney(before.Values(), after.Values())}
	if old != now {
		c.Delta = now/old - 1 // infinite where it was nothing
	}
	worse := c.Delta
	if after.Unit.HigherIsBetter() {
		worse = old/now - 1
	}
	switch {
	case c.P >= significant || worse == 0:
	case worse > threshold:
		c.Verdict = Regression
	case worse > 0:
		c.Verdict = Worse
	default:
		c.Verdict = Better
	}
	return c
}

// WriteChanges writes the changes for people.
func WriteChanges(w io.Writer, changes []Change, alone []string) error {
	t := report.NewTable("case", "before", "after", "unit", "change", "p", "verdict")
	t.Left("case", "unit", "verdict")
	for _, c := range changes {
		t.Row(c.After.Name(), report.Digits(stats.Median(c.Before.Values())), report.Digits(stats.Median(c.After.Values())),
			string(c.After.Unit), fmt.Sprintf("%+.1f %%", 100*c.Delta), fmt.Sprintf("%.3f", c.P), string(c.Verdict))
	}
	_, err := t.WriteTo(w)
	for _, name := range alone {
		if err == nil {
			_, err = fmt.Fprintf(w, "only in one of the runs: %s\n", name)
		}
	}
	return err
}
