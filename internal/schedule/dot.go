package schedule

import (
	"fmt"
	"slices"
	"strings"
)

// DOT describes the schedule as a graph for Graphviz: a cluster for each wave,
// an ellipse for each flush, and an edge for each reason that [Schedule.Explain]
// gives.
func (s *Schedule) DOT() string {
	var b strings.Builder
	b.WriteString("digraph schedule {\n\trankdir=LR\n\tnode [shape=box]\n")
	for w, systems := range s.waves {
		fmt.Fprintf(&b, "\tsubgraph cluster_%d {\n\t\tlabel=\"wave %d\"\n", w+1, w+1)
		for _, i := range systems {
			fmt.Fprintf(&b, "\t\t%s\n", quote(s.systems[i].Name))
		}
		b.WriteString("\t}\n")
	}
	for i := range s.systems {
		for _, r := range s.binding(i) {
			s.edge(&b, i, r)
		}
	}
	for w, causes := range s.flushes {
		s.flushNode(&b, w, causes)
	}
	b.WriteString("}\n")
	return b.String()
}

// edge draws a reason that has no flush in between; those are drawn with it.
func (s *Schedule) edge(b *strings.Builder, i int, r reason) {
	from, to := quote(s.systems[r.other].Name), quote(s.systems[i].Name)
	switch {
	case r.own|r.others == 0:
		fmt.Fprintf(b, "\t%s -> %s [label=\"after\", style=dashed]\n", from, to)
	case r.others != emits || r.own == emits:
		fmt.Fprintf(b, "\t%s -> %s [label=%s]\n", from, to, quote(s.name(r.resource)))
	}
}

func (s *Schedule) flushNode(b *strings.Builder, wave int, causes []cause) {
	if len(causes) == 0 {
		return
	}
	node := fmt.Sprintf("flush_%d", wave+1)
	fmt.Fprintf(b, "\t%s [label=\"flush\", shape=ellipse]\n", node)
	var drawn []string
	draw := func(line string) { // once, though several systems touch what one emits
		if !slices.Contains(drawn, line) {
			drawn = append(drawn, line)
			b.WriteString(line)
		}
	}
	for _, c := range causes {
		draw(fmt.Sprintf("\t%s -> %s [label=%s]\n", quote(s.systems[c.other].Name), node, quote(s.name(c.resource))))
	}
	for _, c := range causes {
		if c.system != nobody {
			draw(fmt.Sprintf("\t%s -> %s [label=%s]\n", node, quote(s.systems[c.system].Name), quote(s.name(c.resource))))
		}
	}
}

// quote makes s a name of the language of Graphviz.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
