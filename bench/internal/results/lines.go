package results

import (
	"fmt"
	"slices"
	"strings"

	"handloom/bench/internal/measure"
	"handloom/internal/chart"
)

// overN returns the cost of an operation over n, for implementations of which
// there are several n.
func (d chartData) overN(op, title string) chart.Chart {
	l := chart.Lines{
		Title: title,
		X:     chart.Axis{Title: "items", Scale: chart.Log10},
		Y:     chart.Axis{Unit: chart.Nanoseconds, Scale: chart.Log10},
		Note:  fmt.Sprintf("Items of %d bytes. Both axes are logarithmic.", barsSize),
	}
	for _, impl := range colours {
		s := chart.Series{Name: impl}
		for _, r := range d.where(func(r *measure.Result) bool { return r.Op == op && r.Impl == impl && r.Size == barsSize }) {
			s.Points = append(s.Points, chart.Point{X: float64(r.N), Y: chartValue(r.Summary(), 1)})
		}
		slices.SortFunc(s.Points, func(a, b chart.Point) int { return int(a.X - b.X) })
		if n := len(s.Points); n > 1 {
			l.Series = append(l.Series, s)
			if len(l.Series) == 1 && s.Known() {
				l.Says = fmt.Sprintf("%s goes from %s to %s.", impl, l.Y.Unit.Format(s.Points[0].Y.At), l.Y.Unit.Format(s.Points[n-1].Y.At))
			}
		}
	}
	if len(l.Series) == 0 {
		return nil
	}
	return l
}

// speedUp returns how many times faster tables are on several workers than on
// one, beside the line on which twice the workers are twice as fast.
func (d chartData) speedUp() chart.Chart {
	l := chart.Lines{
		Title: "How many times faster than one worker",
		X:     chart.Axis{Title: "workers", Scale: chart.Log2},
		Y:     chart.Axis{Unit: chart.Times, Scale: chart.Log2},
		Note:  "Both axes are logarithmic.",
	}
	ideal := chart.Series{Name: "ideal"}
	var best []string
	for _, op := range []string{"foreach", "flush", "mixed", "replay"} {
		s := chart.Series{Name: op}
		for _, r := range d.where(func(r *measure.Result) bool { return r.Op == op && r.Impl == "table" }) {
			if first := d.first(op); first.N == r.N && first.Size == r.Size {
				s.Points = append(s.Points, chart.Point{X: float64(r.Workers), Y: speedUp(first, r)})
			}
		}
		if n := len(s.Points); n > 1 {
			l.Series = append(l.Series, s)
			if s.Known() {
				best = append(best, fmt.Sprintf("%s %s", op, l.Y.Unit.Format(s.Points[n-1].Y.At)))
			}
		}
		if len(s.Points) > len(ideal.Points) {
			ideal.Points = nil
			for _, p := range s.Points {
				ideal.Points = append(ideal.Points, chart.Point{X: p.X, Y: chart.Value{At: p.X}})
			}
		}
	}
	if len(l.Series) == 0 {
		return nil
	}
	l.Series = append(l.Series, ideal)
	if len(best) > 0 {
		l.Says = "With the most workers: " + strings.Join(best, ", ") + "."
	}
	return l
}

// first returns the result of the operation on a table that has the fewest
// workers, and the n and size that results of it are shown for.
func (d chartData) first(op string) *measure.Result {
	return d.where(func(r *measure.Result) bool { return r.Op == op && r.Impl == "table" })[0]
}

// speedUp returns how many times faster b is than a.
func speedUp(a, b *measure.Result) chart.Value {
	if a.Unit.HigherIsBetter() {
		a, b = b, a
	}
	return chartValue(RatioOf(a, b).Summary, 1)
}
