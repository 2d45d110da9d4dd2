package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// compare describes the first difference to runs[0] in the last frame, or its error, or returns
// "".
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

// hint returns a likely cause.
func hint(want *run, other []*run) string {
	switch {
	case other[0].reopened:
		return "data outside snapshots matters: look for variables of the program that a frame keeps, " +
			"for commands that it does not flush, and for names and lists of the previous frame"
	case other[0].again:
		return "equal runs differ: look for the order of a map, the clock, random numbers without a fixed seed, " +
			"and values that setup does not create"
	case slices.ContainsFunc(other, func(r *run) bool { return r.workers == want.workers }):
		return "the order of tasks matters: look for values shared by tasks of one pass, such as a slice, a counter, " +
			"or an item that one writes and another reads"
	}
	return "the number of workers matters: look for work divided by it, and for values shared by tasks of one pass"
}

// differs describes the first difference in the last frame, or returns "".
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
