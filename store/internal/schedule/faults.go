package schedule

import (
	"fmt"
	"slices"
)

func faults(systems []System) (errs []error) {
	for i := range systems {
		s := &systems[i]
		label := fmt.Sprintf("system %q", s.Name)
		fault := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("%s: %w", label, fmt.Errorf(format, args...)))
		}
		if s.Name == "" {
			label = fmt.Sprintf("system %d", i)
			fault("no name")
		} else if named(systems[:i], s.Name) {
			fault("the name is taken; give each system its own Name")
		}
		if s.Run == nil {
			fault("Run is nil")
		}
		for _, name := range s.After {
			if !named(systems, name) {
				fault("After names %q, which is not a system; use the Name of a system of this schedule", name)
			}
		}
		for _, r := range slices.Concat(s.Reads, s.Writes, s.Emits) {
			if r < 0 {
				fault("resource %d is negative", r)
			}
		}
	}
	return errs
}

func named(systems []System, name string) bool {
	return slices.ContainsFunc(systems, func(s System) bool { return s.Name == name })
}
