package schedule

import (
	"fmt"
	"strings"
)

type words struct {
	systems []System
	name    func(Resource) string
}

// because returns why a system waits, to follow its name.
func (w words) because(r reason) string {
	other := w.systems[r.other].Name
	if r.own|r.others == 0 {
		return "is after " + other
	}
	return fmt.Sprintf("%v %s, which %s %v", r.own, w.name(r.resource), other, r.others)
}

func (w words) flushBecause(c cause) string {
	if c.system == nobody {
		return fmt.Sprintf("%s emits %s", w.systems[c.other].Name, w.name(c.resource))
	}
	return w.systems[c.system].Name + " " + w.because(c.reason)
}

func (w words) cycleError(cycle []cause) error {
	var names, why []string
	for _, c := range cycle {
		names = append(names, w.systems[c.system].Name)
		why = append(why, w.systems[c.system].Name+" "+w.because(c.reason))
	}
	return fmt.Errorf("systems wait for each other: %s -> %s: %s; remove one of these After or declarations",
		strings.Join(names, " -> "), names[0], strings.Join(why, "; "))
}
