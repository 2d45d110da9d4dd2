package nemesis

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"handloom/internal/report"
)

func quantile(outages []time.Duration, q float64) string {
	return report.Duration(outages[max(0, int(math.Ceil(q*float64(len(outages))))-1)])
}

// String returns the counts of the verdict.
func (r *Result) String() string {
	return fmt.Sprintf("ticks and calls lost %d, changed %d, done twice %d, diverged %d, records broken %d; zombies fenced %d",
		r.Lost, r.Changed, r.Doubled, r.Diverged, r.Broken, r.Fenced)
}

// Print prints a table of outages, and counts.
func (r *Result) Print(w io.Writer) {
	outages := make(map[string][]time.Duration)
	for _, e := range r.Events {
		outages[e.kind.Name] = append(outages[e.kind.Name], e.outage)
	}
	events := report.NewTable("longest time without a tick", "n", "p50", "p99", "max")
	events.Left("longest time without a tick")
	for _, k := range kinds {
		if o := outages[k.Name]; len(o) > 0 {
			slices.Sort(o)
			events.Row(k.Name, report.Count(len(o)), quantile(o, 0.5), quantile(o, 0.99), quantile(o, 1))
		}
	}
	fmt.Fprintln(w)
	events.WriteTo(w)
	fmt.Fprintf(w, "\n%d records, %d terms, %d ticks, applied %d times; %d calls acknowledged, %d uncertain; took %s\n\n",
		r.Records, r.Terms, r.Ticks, r.Reported, r.Acked, r.Uncertain, report.Duration(r.Took))
}
