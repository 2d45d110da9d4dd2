//go:build handloom_check

package check

import "fmt"

// Audit checks a container before each operation, and so what the operation
// before left behind. It is part of the container; a normal build has an empty
// one.
type Audit struct {
	last  string // the operation before
	since int    // operations since the last check
}

// Next is called at the start of an operation on a container of the given size,
// and panics when verify finds a broken invariant. Containers of up to 64 items
// are checked each time, larger ones after half as many operations as they have
// items, so that checking costs a constant per operation.
func (a *Audit) Next(operation string, size int, verify func() error) {
	if a.since++; a.since > size/2-32 {
		a.since = 0
		if err := verify(); err != nil {
			panic(fmt.Sprintf("checked build: %v; found before %s, the operation before was %s", err, operation, a.last))
		}
	}
	a.last = operation
}
