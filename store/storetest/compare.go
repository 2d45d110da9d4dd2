package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// compare says in words where the first run that differs from runs[0] does, in the
// frame that all have played, and what all runs say about the cause. It returns
// nothing if none differs and none failed.
func compare(runs []*run) string {
	want := runs[0]
	if want.err != nil {
		return fmt.Sprintf("the frame failed with %v: %v", want, want.err)
	}
	var same, other []*run
	found := ""
	for _, r := range runs[1:] {
		if difference := want.differs(r); difference == "" {
			same = append(same, r)
		} else {
			found = cmp.Or(found, difference)
			other = append(other, r)
		}
	}
	if found == "" {
		return ""
	}
	if len(same) > 0 {
		found += "\n\tthe same: " + list(same)
	}
	return found + "\n\tdifferent: " + list(other) + "\n\t" + hint(want, other)
}

// list names runs in the order in which they are made: those of one kind together.
func list(runs []*run) string {
	var b strings.Builder
	for i, r := range runs {
		switch {
		case i+1 == len(runs):
			b.WriteString(r.String())
		case runs[i+1].again == r.again && runs[i+1].shuffled == r.shuffled:
			fmt.Fprintf(&b, "%d, ", r.workers)
		default:
			b.WriteString(r.String() + "; ")
		}
	}
	return b.String()
}

// hint says what to look for when the runs in other differ from want.
func hint(want *run, other []*run) string {
	switch {
	case other[0].reopened:
		return "what is in no snapshot matters: look for what a frame keeps in variables of the program, " +
			"for commands that no flush of it applies, and for names and lists of the frame before"
	case other[0].again:
		return "equal runs differ: look for the order of a map, the clock, random numbers without a fixed seed, " +
			"and for what setup does not make anew"
	case slices.ContainsFunc(other, func(r *run) bool { return r.workers == want.workers }):
		return "the order of tasks matters: look for what tasks of one pass share, such as a slice, a counter, " +
			"or an item that one writes and another reads"
	}
	return "the number of workers matters: look for work that is divided by it, and for what tasks of one pass share"
}

// differs says where r first differs from want in the frame that both have
// played, or nothing.
func (want *run) differs(r *run) string {
	if r.err != nil {
		return fmt.Sprintf("the frame failed with %v, and not with %v: %v", r, want, r.err)
	}
	p := pair{want, r}
	for i := range min(len(want.flushes), len(r.flushes)) {
		x, y := want.flushes[i], r.flushes[i]
		state, reports := p.tables(x.tables, y.tables), p.reports(x.report, y.report)
		if state == "" && reports == "" {
			continue
		}
		if state == "" {
			state = "\n\tthe state is the same"
		}
		return fmt.Sprintf("flush %d: not the same with %v as with %v", i+1, r, want) + state + reports
	}
	if x, y := len(want.flushes), len(r.flushes); x != y {
		return fmt.Sprintf("at its end: flushes with commands are %d with %v, %d with %v", x, want, y, r)
	}
	if state := p.tables(want.end, r.end); state != "" {
		return fmt.Sprintf("at its end: not the same with %v as with %v", r, want) + state
	}
	return ""
}
