package store

import (
	"fmt"
	"slices"
	"sync"

	"handloom/internal/check"
)

// phaseGoroutines records, with the build tag handloom_check, the goroutines that run
// functions of open phases: the callers of phases and the workers of tasks. A call from
// such a goroutine that waits at the gate, with a context from outside, would wait for
// its own phase. Goroutines that a function starts are unknown.
//
// A normal build does not record them: reading a goroutine's number from a stack trace
// takes ten times as long as an empty pass. Tasks that wait at the gate prove nothing,
// because any goroutine may wait there. The race detector does not turn this on, because
// the mutex would order tasks and hide races.
type phaseGoroutines struct {
	mutex  sync.Mutex
	phases map[uint64][]*phase // by goroutine number; the innermost is last
}

// enter records that the calling goroutine runs a function of p, until leave.
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
	phases := g.phases[number]
	if len(phases) == 1 {
		delete(g.phases, number)
		return
	}
	g.phases[number] = phases[:len(phases)-1]
}

func (g *phaseGoroutines) around(p *phase, task func(int) error) func(int) error {
	return func(n int) error {
		g.enter(p)
		defer g.leave()
		return task(n)
	}
}

// innermost returns the innermost phase whose function the calling goroutine runs, or
// nil. Options.AfterFlush counts only for Submit, because it may open phases.
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

// inReduce reports whether the calling goroutine runs the function of a Reduce.
func (g *phaseGoroutines) inReduce() bool {
	p := g.innermost(opReduce)
	return p != nil && p.op == opReduce
}

// waits returns an error if p would wait forever at the gate for the phase of its own
// goroutine, with a context that has no deadline. If both phases are shared, p only waits
// for another goroutine that waits for the outer phase: forever, too.
func (g *phaseGoroutines) waits(p *phase) error {
	in := g.innermost(p.op)
	if _, ends := p.Deadline(); in == nil || ends || p.Err() != nil {
		return nil
	}
	instead := fmt.Sprintf("pass it the context that %v gave to its function", in.op)
	if !operations[in.op].givesContext {
		instead = fmt.Sprintf("call it when %v has returned", in.op)
	}
	return fmt.Errorf("store: %v inside %v, with a context from outside: %w: it would wait forever; %s", p.op, in.op, ErrPhase, instead)
}
