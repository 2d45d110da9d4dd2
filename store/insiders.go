package store

import (
	"fmt"
	"sync"

	"handloom/internal/check"
)

// insiders are, under the build tag handloom_check, the goroutines that run
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
type insiders struct {
	mutex  sync.Mutex
	phases map[uint64][]*phase // by number of the goroutine; the innermost is the last
}

// enter notes that the calling goroutine runs a function of p, until it calls leave.
func (i *insiders) enter(p *phase) {
	number := check.Goroutine()
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if i.phases == nil {
		i.phases = make(map[uint64][]*phase)
	}
	i.phases[number] = append(i.phases[number], p)
}

func (i *insiders) leave() {
	number := check.Goroutine()
	i.mutex.Lock()
	defer i.mutex.Unlock()
	of := i.phases[number]
	if len(of) == 1 {
		delete(i.phases, number)
		return
	}
	i.phases[number] = of[:len(of)-1]
}

// around returns a task that is noted while it runs.
func (i *insiders) around(p *phase, task func(int) error) func(int) error {
	return func(n int) error {
		i.enter(p)
		defer i.leave()
		return task(n)
	}
}

// innermost returns the innermost phase that the calling goroutine runs a function
// of, or nil.
func (i *insiders) innermost() *phase {
	number := check.Goroutine()
	i.mutex.Lock()
	defer i.mutex.Unlock()
	of := i.phases[number]
	if len(of) == 0 {
		return nil
	}
	return of[len(of)-1]
}

// waits is asked when p would have to wait at the gate. It returns an error when
// that would be for the phase whose function the goroutine runs, with no end of the
// context in sight. Of two phases that share the gate the inner one waits only
// behind somebody who waits for the outer one: for ever, too.
func (i *insiders) waits(p *phase) error {
	in := i.innermost()
	if _, ends := p.Deadline(); in == nil || ends || p.Err() != nil {
		return nil
	}
	instead := fmt.Sprintf("pass it the context that %v gave to its function", in.op)
	if !in.op.givesContext() {
		instead = fmt.Sprintf("call it when %v has returned", in.op)
	}
	return fmt.Errorf("store: %v inside %v, with a context from outside: %w, and it would wait for ever; %s", p.op, in.op, ErrPhase, instead)
}

// givesContext reports whether the functions of a phase of kind o are given a
// context. Those that Checkpoint, Flush or SortFunc call are not.
func (o operation) givesContext() bool {
	switch o {
	case opRead, opReduce, opForEach, opEach, opWrite, opSystem:
		return true
	}
	return false
}
