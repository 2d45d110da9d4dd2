package store

import (
	"fmt"
	"slices"
	"sync"

	"handloom/internal/check"
)

// phaseGoroutines are, under the build tag handloom_check, the goroutines that run
// functions of open phases: a call of such a goroutine that waits at the gate,
// because it was given a context from outside, would wait for the phase that it is
// in. They are the goroutines that opened phases and the workers of their tasks; of
// others that a function starts and waits for nothing is known.
//
// A normal build does not know them. The language has no name for a goroutine, and
// to read its number from a stack trace takes ten times as long as an empty pass
// does. That a phase holds the gate, and that all its tasks wait there, proves
// nothing: who waits may as well be somebody else. The race detector alone does not
// turn this on either: the mutex would order tasks, and so hide their races.
type phaseGoroutines struct {
	mutex  sync.Mutex
	phases map[uint64][]*phase // by number of the goroutine; the innermost is the last
}

// enter notes that the calling goroutine runs a function of p, until it calls leave.
func (g *phaseGoroutines) enter(p *phase) {
	number := check.Goroutine()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	if g.phases == nil {
		g.phases = make(map[uint64][]*phase)
	}
	g.phases[number] = append(g.phases[number], p)
}

func (g *phaseGoroutines) leave() {
	number := check.Goroutine()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	of := g.phases[number]
	if len(of) == 1 {
		delete(g.phases, number)
		return
	}
	g.phases[number] = of[:len(of)-1]
}

// around returns a task that is noted while it runs.
func (g *phaseGoroutines) around(p *phase, task func(int) error) func(int) error {
	return func(n int) error {
		g.enter(p)
		defer g.leave()
		return task(n)
	}
}

// innermost returns the innermost phase that the calling goroutine runs a function
// of, or nil. Options.AfterFlush counts as one for Submit alone: it may open phases.
func (g *phaseGoroutines) innermost(asks operation) *phase {
	number := check.Goroutine()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, p := range slices.Backward(g.phases[number]) {
		if p.op != opAfterFlush || asks == opSubmit {
			return p
		}
	}
	return nil
}

// waits is asked when p would have to wait at the gate. It returns an error when
// that would be for the phase whose function the goroutine runs, with no end of the
// context in sight. Of two phases that share the gate the inner one waits only
// behind somebody who waits for the outer one: for ever, too.
func (g *phaseGoroutines) waits(p *phase) error {
	in := g.innermost(p.op)
	if _, ends := p.Deadline(); in == nil || ends || p.Err() != nil {
		return nil
	}
	instead := fmt.Sprintf("pass it the context that %v gave to its function", in.op)
	if !operations[in.op].givesContext {
		instead = fmt.Sprintf("call it when %v has returned", in.op)
	}
	return fmt.Errorf("store: %v inside %v, with a context from outside: %w, and it would wait for ever; %s", p.op, in.op, ErrPhase, instead)
}
