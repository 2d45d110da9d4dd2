package store

import (
	"fmt"
	"sync"

	"handloom/internal/check"
)

// insiders are, under the build tag handloom_check, the goroutines that run
// functions of open phases: a call of such a goroutine that waits at the gate,
// because it was given a context from outside, would wait for the phase that it is
// in. The race detector alone does not turn this on: the lock would order tasks,
// and so hide their races.
type insiders struct {
	lock   sync.Mutex
	phases map[uint64]*phase // the innermost, by number of the goroutine
}

// enter notes that the calling goroutine runs a function of p, until leave is
// called.
func (i *insiders) enter(p *phase) (leave func()) {
	number := check.Goroutine()
	outer := i.replace(number, p)
	return func() { i.replace(number, outer) }
}

// replace returns what it replaced; nil is none.
func (i *insiders) replace(number uint64, p *phase) (before *phase) {
	i.lock.Lock()
	defer i.lock.Unlock()
	before = i.phases[number]
	if p == nil {
		delete(i.phases, number)
		return before
	}
	if i.phases == nil {
		i.phases = make(map[uint64]*phase)
	}
	i.phases[number] = p
	return before
}

// around returns a task that is noted while it runs.
func (i *insiders) around(p *phase, task func(int) error) func(int) error {
	return func(n int) error {
		defer i.enter(p)()
		return task(n)
	}
}

// waits is asked when p would have to wait at the gate. It returns an error when
// that would be for the phase whose function the goroutine runs, with no end of the
// context in sight. Of two phases that share the gate the inner one waits only
// behind somebody who waits for the outer one: for ever, too.
func (i *insiders) waits(p *phase) error {
	number := check.Goroutine()
	i.lock.Lock()
	in := i.phases[number]
	i.lock.Unlock()
	if _, ends := p.Deadline(); in == nil || ends || p.Err() != nil {
		return nil
	}
	return fmt.Errorf("store: %v inside %v, with a context from outside: %w, and it would wait for ever; pass it the context that %v gave to its function",
		p.op, in.op, ErrPhase, in.op)
}
