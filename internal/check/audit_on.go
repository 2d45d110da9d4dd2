//go:build handloom_check

package check

import "fmt"

// Audit checks a container before each operation, and so the result of the previous one. It
// is part of the container; in a normal build it is empty.
type Audit struct {
	last  string // the previous operation
	since int    // operations since the last check
}

// Next is called at the start of an operation on a container of size items and panics if
// verify finds a broken invariant. It checks containers of up to 64 items each time and
// larger ones once per size/2 operations, so that the cost per operation is constant.
func (a *Audit) Next(operation string, size int, verify func() error) {
	if a.since++; a.since > size/2-32 {
		a.since = 0
		if err := verify(); err != nil {
			panic(fmt.Sprintf("checked build: %v; found before %s, the operation before was %s", err, operation, a.last))
		}
	}
	a.last = operation
}
