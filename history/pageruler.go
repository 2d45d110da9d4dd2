package history

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A ruler is the slider over all ticks of the log.
type ruler struct {
	First, Last, Tick uint64
	Lanes             []lane
	Marks             []mark
	Rest              int // marks that are not listed
}

// A lane is a row of bars below the slider.
type lane struct {
	Title, Name string
	Verdict     *verdict
	Bars        []bar
}

// A bar is a run of ticks, in thousandths of the width.
type bar struct {
	Class    string
	X, Width float64
}

// A mark is a tick to go to.
type mark struct {
	Tick uint64
	Says string
}

const maxMarks = 100

func (v *view) Ruler() ruler {
	p := v.page
	r := ruler{First: math.MaxUint64, Tick: v.Query.Tick}
	for i := range p.spans {
		r.First, r.Last = min(r.First, p.spans[i].First), max(r.Last, p.spans[i].Last)
	}
	r.First = min(r.First, r.Last)
	r.Tick = min(max(r.Tick, r.First), r.Last)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	r.Lanes = []lane{r.log(p)}
	for _, e := range v.Checks {
		l := lane{Title: "Check " + e.Name, Name: e.Name, Verdict: &e}
		for _, k := range p.strips[e.Name].known {
			l.Bars = append(l.Bars, r.bar(map[bool]string{true: "fails", false: "holds"}[k.Fails], k.From, k.To))
		}
		slices.SortStableFunc(l.Bars, func(a, b bar) int { return strings.Compare(b.Class, a.Class) }) // failures on top
		r.Lanes = append(r.Lanes, l)
	}
	r.Marks, r.Rest = marks(p)
	return r
}

// log returns the lane of ranges, snapshots and marks.
func (r *ruler) log(p *page) lane {
	l := lane{Title: fmt.Sprintf("Ticks %d to %d", r.First, r.Last), Name: "log"}
	for i := range p.spans {
		sp := &p.spans[i]
		class := "other"
		if p.plays(sp) {
			class = "kept"
		}
		l.Bars = append(l.Bars, r.bar(class, sp.First, sp.Last))
		for _, s := range sp.starts {
			l.Bars = append(l.Bars, r.bar("snapshot", s.tick, s.tick))
		}
		for _, tick := range slices.Concat(sp.Terms, sp.Skipped) {
			l.Bars = append(l.Bars, r.bar("term", tick, tick))
		}
	}
	for _, tick := range slices.Sorted(maps.Keys(p.failed)) {
		l.Bars = append(l.Bars, r.bar("fails", tick, tick))
	}
	return l
}

// bar returns the bar of ticks, which is at least visible.
func (r *ruler) bar(class string, from, to uint64) bar {
	const all = 1000
	least := 3.0
	if class == "fails" {
		least = 6
	}
	n := float64(max(r.Last-r.First, 1))
	x := func(tick uint64) float64 { return all * float64(min(max(tick, r.First), r.Last)-r.First) / n }
	half := max(all/n/2, least/2)
	return bar{class, x(from) - half, x(to) - x(from) + 2*half}
}

// marks lists the ticks with a mark, in order.
func marks(p *page) (all []mark, rest int) {
	for i := range p.spans {
		sp := &p.spans[i]
		if i > 0 && p.spans[i-1].Last+1 < sp.First {
			all = append(all, mark{p.spans[i-1].Last, fmt.Sprintf("ticks %d to %d are not kept", p.spans[i-1].Last+1, sp.First-1)})
		}
		says := fmt.Sprintf("version %q begins", sp.Version)
		if !p.plays(sp) {
			says += fmt.Sprintf(", not %q: needs -any", p.version)
		}
		all = append(all, mark{sp.First, says})
		for _, s := range sp.starts {
			all = append(all, mark{s.tick, "snapshot"})
		}
		for _, tick := range sp.Terms {
			all = append(all, mark{tick, "another leader after it"})
		}
		for _, tick := range sp.Skipped {
			all = append(all, mark{tick, "runs without its input"})
		}
		end := mark{sp.Last, "end of the log"}
		if sp.Err != nil {
			end.Says = "end: " + sp.Err.Error()
		}
		if sp.Err != nil || i == len(p.spans)-1 {
			all = append(all, end)
		}
	}
	for _, tick := range slices.Sorted(maps.Keys(p.failed)) {
		all = append(all, mark{tick, "fails"})
	}
	slices.SortStableFunc(all, func(a, b mark) int { return cmp.Compare(a.Tick, b.Tick) })
	if len(all) > maxMarks {
		rest = len(all) - maxMarks
		all = all[:maxMarks]
	}
	return all, rest
}
