//go:build handloom_canary

package canary

import (
	"fmt"
	"strings"
)

// Enabled says that the faults are compiled in.
const Enabled = true

// chosen is set between two programs of the harness, when nothing runs.
var chosen Fault

// On reports whether a fault is chosen.
func On(f Fault) bool { return chosen == f }

// Choose chooses the fault of a name; "" is none.
func Choose(name string) error {
	if name == "" {
		name = None.String()
	}
	for f := range faults {
		if f.String() == name {
			chosen = f
			return nil
		}
	}
	var all []string
	for _, f := range All() {
		all = append(all, f.String())
	}
	return fmt.Errorf("no fault is called %q; want %s", name, strings.Join(all, ", "))
}
