package page

import (
	"fmt"
	"slices"

	"handloom/bench/internal/measure"
	"handloom/bench/internal/results"
	"handloom/internal/chart"
)

// overN returns the cost of an operation over n, for implementations of which
// there are several n.
func (d data) overN(op, title string) chart.Chart {
	l := chart.Lines{
		Title: title + " (lower is better)",
		X:     chart.Axis{Title: "items", Scale: chart.Log10},
		Y:     chart.Axis{Title: "time per item", Unit: chart.Nanoseconds, Scale: chart.Log10},
		Note:  fmt.Sprintf("Items of %d bytes.", barsSize),
	}
	for _, impl := range colours {
		s := chart.Series{Name: impl}
		for _, r := range d.where(func(r *measure.Result) bool { return r.Op == op && r.Impl == impl && r.Size == barsSize }) {
			s.Points = append(s.Points, chart.Point{X: float64(r.N), Y: median(r)})
		}
		slices.SortFunc(s.Points, func(a, b chart.Point) int { return int(a.X - b.X) })
		if len(s.Points) > 1 {
			l.Series = append(l.Series, s)
		}
	}
	if len(l.Series) == 0 {
		return nil
	}
	return l
}

// speedUp returns how many times faster tables are on several workers than on
// one, beside the line on which twice the workers are twice as fast.
func (d data) speedUp() chart.Chart {
	l := chart.Lines{
		Title: "Speed-up over workers (higher is better)",
		X:     chart.Axis{Title: "workers", Scale: chart.Log2},
		Y:     chart.Axis{Title: "times faster than one worker", Unit: chart.Times, Scale: chart.Log2},
	}
	ideal := chart.Series{Name: "ideal"}
	for _, op := range []string{"foreach", "flush", "mixed", "replay"} {
		s := chart.Series{Name: op}
		for _, r := range d.where(func(r *measure.Result) bool { return r.Op == op && r.Impl == "table" }) {
			if first := d.first(op); first.N == r.N && first.Size == r.Size {
				s.Points = append(s.Points, chart.Point{X: float64(r.Workers), Y: speedUp(first, r)})
			}
		}
		if len(s.Points) > 1 {
			l.Series = append(l.Series, s)
		}
		if len(s.Points) > len(ideal.Points) {
			ideal.Points = nil
			for _, p := range s.Points {
				ideal.Points = append(ideal.Points, chart.Point{X: p.X, Y: p.X})
			}
		}
	}
	if len(l.Series) == 0 {
		return nil
	}
	l.Series = append(l.Series, ideal)
	return l
}

// first returns the result of the operation on a table that has the fewest
// workers, and the n and size that results of it are shown for.
func (d data) first(op string) *measure.Result {
	return d.where(func(r *measure.Result) bool { return r.Op == op && r.Impl == "table" })[0]
}

// speedUp returns how many times faster b is than a.
func speedUp(a, b *measure.Result) float64 {
	times := results.RatioOf(a, b).Median
	if a.Unit.HigherIsBetter() {
		return 1 / times
	}
	return times
}
