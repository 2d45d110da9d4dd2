//go:build !handloom_canary

package canary

import "errors"

// Enabled says that the faults are compiled in.
const Enabled = false

// On reports whether a fault is chosen.
func On(Fault) bool { return false }

// Choose chooses the fault of a name; "" is none. In this build there is none
// else.
func Choose(name string) error {
	if name == "" || name == None.String() {
		return nil
	}
	return errors.New("no fault is compiled in; build with -tags handloom_canary")
}
