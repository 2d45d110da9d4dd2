package store

import (
	"fmt"
	"sync"

	"handloom/internal/check"
)

// insiders are, in checked builds, the goroutines that run functions of open
// phases: a call of such a goroutine that waits at the gate, because it was given
// a context from outside, would wait for the phase that it is in.
type insiders struct {
	phases sync.Map // number of the goroutine to the innermost *phase
}

// enter notes that the calling goroutine runs a function of p, until leave is
// called.
func (i *insiders) enter(p *phase) (leave func()) {
	number := check.Goroutine()
	outer, nested := i.phases.Swap(number, p)
	return func() {
		if nested {
			i.phases.Store(number, outer)
		} else {
			i.phases.Delete(number)
		}
	}
}

// around returns a task that is noted while it runs.
func (i *insiders) around(p *phase, task func(int) error) func(int) error {
	return func(n int) error {
		defer i.enter(p)()
		return task(n)
	}
}

// waits returns an error when p, which joins no phase, would wait for itself, and
// its context has no end in sight. Phases that share the gate do not wait for each
// other.
func (i *insiders) waits(p *phase) error {
	of, inside := i.phases.Load(check.Goroutine())
	if _, ends := p.Deadline(); !inside || ends || p.Err() != nil {
		return nil
	}
	in := of.(*phase)
	if p.op.shared() && in.outermost().op.shared() {
		return nil
	}
	return fmt.Errorf("store: %v inside %v, with a context from outside: %w, and it would wait for ever; pass it the context that %v gave to its function",
		p.op, in.op, ErrPhase, in.op)
}

// outermost returns the phase that holds the gate.
func (p *phase) outermost() *phase {
	for p.outer != nil {
		p = p.outer
	}
	return p
}
