package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"handloom/internal/chart"
	"handloom/internal/histogram"
	"handloom/internal/report"
)

// typeRow is what a trace says about the objects of one table, or of all.
type typeRow struct {
	Table      int     `json:"table"` // -1: all of them
	Name       string  `json:"name"`  // as the trace has it
	Created    int     `json:"created"`
	Updated    int     `json:"updated"`
	Erased     int     `json:"erased"`
	Live       int     `json:"live"` // at the end
	Peak       int     `json:"peak"` // at the end of a tick
	PeakTick   int     `json:"peak_tick"`
	Births     float64 `json:"births_per_tick"`
	MostBirths int     `json:"births_per_tick_max"`
	Deaths     float64 `json:"deaths_per_tick"`
	MostDeaths int     `json:"deaths_per_tick_max"`

	// Ticks that the erased objects lived for, that of the birth included: half of
	// them no longer than P50.
	P50     int `json:"lived_p50_ticks"`
	P90     int `json:"lived_p90_ticks"`
	P99     int `json:"lived_p99_ticks"`
	Longest int `json:"lived_max_ticks"`
}

// types returns what the trace says: first of all tables together, then of each,
// those with most objects first.
func (r *replay) types() []typeRow {
	all := r.model.all
	all.lived = new(histogram.Histogram)
	var rows []typeRow
	for _, t := range r.model.tables {
		name := r.title(t.number)
		if name == "" {
			name = fmt.Sprintf("table %d", t.number)
		}
		rows = append(rows, t.life.row(int(t.number), name, len(t.objects), r.model.tick))
		all.updated += t.life.updated
		if t.life.lived != nil {
			all.lived.Merge(t.life.lived)
		}
	}
	slices.SortStableFunc(rows, func(a, b typeRow) int { return cmp.Compare(b.Created, a.Created) })
	return slices.Insert(rows, 0, all.row(-1, "all types", r.model.len(), r.model.tick))
}

func (l *life) row(table int, name string, live, ticks int) typeRow {
	n := float64(max(ticks, 1))
	return typeRow{
		Table: table, Name: name, Created: l.created, Updated: l.updated, Erased: l.erased, Live: live,
		Peak: l.peak, PeakTick: l.peakTick,
		Births: float64(l.created) / n, MostBirths: l.mostBirths, Deaths: float64(l.erased) / n, MostDeaths: l.mostDeaths,
		P50: l.ticks(0.5), P90: l.ticks(0.9), P99: l.ticks(0.99), Longest: l.ticks(1),
	}
}

// shownTypes is how many types people are shown; -json has all.
const shownTypes = 12

// writeTypes prints the types for a person.
func writeTypes(w io.Writer, rows []typeRow) {
	t := report.NewTable("objects", "created", "updated", "erased", "live", "peak", "births/tick", "max", "deaths/tick", "max", "lived p50", "p99", "max ticks")
	for _, r := range rows[:min(len(rows), shownTypes+1)] {
		t.Row(shortened(r.Name, 40), report.Count(r.Created), report.Count(r.Updated), report.Count(r.Erased), report.Count(r.Live), report.Count(r.Peak),
			fmt.Sprintf("%.1f", r.Births), report.Count(r.MostBirths), fmt.Sprintf("%.1f", r.Deaths), report.Count(r.MostDeaths),
			report.Count(r.P50), report.Count(r.P99), report.Count(r.Longest))
	}
	t.Left("objects")
	t.WriteTo(w)
	if left := len(rows) - shownTypes - 1; left > 0 {
		fmt.Fprintf(w, "and types that fewer objects are of: %s\n", report.Count(left))
	}
}

// beside is what a number of workers costs beside plain Go maps, each a ratio: 0.5
// is half of it.
type beside struct {
	Time    float64 `json:"time"`
	Passes  float64 `json:"passes"`  // time to age and to sum up all items
	Changes float64 `json:"changes"` // time of creates, updates and erases
	Memory  float64 `json:"memory"`  // at the end
}

func (r *replay) beside(p *player, bytes int64) beside {
	m := r.model
	ratio := func(a, b int64) float64 { return float64(a) / float64(max(b, 1)) }
	return beside{
		Time: ratio(int64(p.busy), int64(m.busy)), Passes: ratio(int64(p.busy-p.changing), int64(m.busy-m.changing)),
		Changes: ratio(int64(p.changing), int64(m.changing)), Memory: ratio(bytes, m.bytes),
	}
}

// writeBeside prints what tables cost beside plain maps.
func writeBeside(w io.Writer, rows []row, m *model) {
	times := func(ratio float64) string { return fmt.Sprintf("%.2fx", ratio) }
	t := report.NewTable("workers", "time", "passes", "changes", "memory")
	for _, r := range rows {
		t.Row(strconv.Itoa(r.Workers), times(r.Beside.Time), times(r.Beside.Passes), times(r.Beside.Changes), times(r.Beside.Memory))
	}
	fmt.Fprintf(w, "tables beside plain Go maps, which take %s in ticks and %s at the end:\n", report.Duration(m.busy), report.Bytes(m.bytes))
	t.WriteTo(w)
}

// typeFacts are the figures of all types together, for people.
func typeFacts(all typeRow) []fact {
	return []fact{
		{Name: "objects", Value: fmt.Sprintf("%s created, %s updates, %s erased, %s left; at most %s at once, in tick %s",
			report.Count(all.Created), report.Count(all.Updated), report.Count(all.Erased), report.Count(all.Live), report.Count(all.Peak), report.Count(all.PeakTick))},
		{Name: "per tick", Value: fmt.Sprintf("%.1f births, %s at most; %.1f deaths, %s at most", all.Births, report.Count(all.MostBirths), all.Deaths, report.Count(all.MostDeaths))},
		{Name: "lived", Value: fmt.Sprintf("p50 %s, p90 %s, p99 %s, max %s ticks, that of the birth included", report.Count(all.P50), report.Count(all.P90), report.Count(all.P99), report.Count(all.Longest))},
	}
}

// charts are what the page of a replay shows beside its pace.
func (r *replay) charts(rows []row, types []typeRow) []chart.Chart {
	shown := types[1:min(len(types), shownTypes+1)]
	at := func(v int) chart.Value { return chart.Value{At: float64(v)} }
	peaks := chart.Bars{Title: "Most objects at once, by type", Series: []string{""}}
	lived := chart.Bars{
		Title: "Ticks that objects lived for, by type", X: chart.Axis{Scale: chart.Log10}, Series: []string{"p50", "p99", "max"},
		Note: "Of those that were erased; the tick of the birth is one.",
	}
	for _, t := range shown {
		peaks.Groups = append(peaks.Groups, chart.Group{Name: t.Name, Values: []chart.Value{at(t.Peak)}})
		lived.Groups = append(lived.Groups, chart.Group{Name: t.Name, Values: []chart.Value{at(t.P50), at(t.P99), at(t.Longest)}})
	}
	cost := chart.Bars{
		Title: "Tables beside plain Go maps", Says: "Below 1 the tables take less.", X: chart.Axis{Unit: chart.Times, Scale: chart.Log10},
		Series: []string{"passes", "changes", "time in all", "memory"}, Limit: &chart.Limit{Name: "plain maps", At: 1},
		Note: "The same events in the same run, on maps from key to item, by one goroutine.",
	}
	for _, w := range rows {
		b := w.Beside
		cost.Groups = append(cost.Groups, chart.Group{
			Name: fmt.Sprintf("workers %d", w.Workers), Values: []chart.Value{{At: b.Passes}, {At: b.Changes}, {At: b.Time}, {At: b.Memory}},
		})
	}
	return []chart.Chart{r.model.course.chart(), peaks, lived, cost}
}

// chart draws births and deaths over the ticks.
func (c *course) chart() chart.Lines {
	births, deaths := chart.Series{Name: "births"}, chart.Series{Name: "deaths"}
	for i, s := range c.runs {
		x := float64(i*c.every + 1)
		n := float64(min(c.every, c.ticks-i*c.every))
		births.Points = append(births.Points, chart.Point{X: x, Y: chart.Value{At: float64(s.births) / n}})
		deaths.Points = append(deaths.Points, chart.Point{X: x, Y: chart.Value{At: float64(s.deaths) / n}})
	}
	return chart.Lines{Title: "Births and deaths per tick", X: chart.Axis{Title: "tick"}, Series: []chart.Series{births, deaths}}
}
