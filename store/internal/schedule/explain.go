package schedule

import (
	"fmt"
	"strings"
)

// Explain describes the schedule in words: waves, why each system is not in an earlier
// wave, and flush points with reasons.
func (s *Schedule) Explain() string {
	var b strings.Builder
	for w, systems := range s.waves {
		s.explainFlush(&b, w)
		fmt.Fprintf(&b, "wave %d\n", w+1)
		for _, i := range systems {
			b.WriteString("  " + s.systems[i].Name)
			if s.systems[i].If != nil {
				b.WriteString(" (if its condition holds)")
			}
			b.WriteByte('\n')
			for _, r := range s.binding(i) {
				fmt.Fprintf(&b, "    %s\n", s.because(r))
			}
		}
	}
	s.explainFlush(&b, len(s.waves))
	return b.String()
}

func (s *Schedule) explainFlush(b *strings.Builder, wave int) {
	if len(s.flushes[wave])+len(s.ends[wave]) > 0 {
		b.WriteString("flush\n")
	}
	for _, c := range s.flushes[wave] {
		fmt.Fprintf(b, "    %s\n", s.flushBecause(c))
	}
	for _, r := range s.ends[wave] {
		fmt.Fprintf(b, "    %s ends\n", s.name(r))
	}
}

// binding returns the reasons against the previous wave.
func (p *plan) binding(i int) (binding []reason) {
	for _, r := range p.reasons[i] {
		if p.wave[i] > 0 && p.wave[r.other]+r.distance() == p.wave[i] {
			binding = append(binding, r)
		}
	}
	return binding
}
