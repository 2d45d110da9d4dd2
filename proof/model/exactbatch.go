package model

import (
	"fmt"
	"math"
)

const inboxPass = math.MaxInt32

// BeginPass returns the number of a new pass; failed passes count.
func (m *Exact) BeginPass() int {
	m.passes = append(m.passes, &pass{})
	return len(m.passes) - 1
}

// EndPass records the commands of a pass, task by task. open keeps its queues
// in use until the flush. EndPass returns an error if an answer of the store is
// impossible.
func (m *Exact) EndPass(number int, tasks [][]Command, failed, open bool) (err error) {
	p := m.passes[number]
	// The limit of a batch counts ended passes only.
	p.open = open
	for task, commands := range tasks {
		// A failed pass has names, too: a program may use them later, and they must be
		// stale.
		for i := range commands {
			if e := m.note(&commands[i], number, task, failed); e != nil && err == nil {
				err = e
			}
		}
	}
	if !failed {
		p.tasks = tasks
	}
	return err
}

// records returns the number of commands. A Stage records nothing.
func records(commands []Command) int {
	n := 0
	for i := range commands {
		if commands[i].Kind != Stage {
			n++
		}
	}
	return n
}

// note learns the creates of a command and checks its answer. dropped says that the pass or
// call failed.
func (m *Exact) note(c *Command, pass, task int, dropped bool) error {
	batch := m.serial
	// A call belongs to the batch of the flush that seals it.
	if pass == inboxPass {
		batch = 0
	}
	switch c.Kind {
	case Create:
		m.creates[c.Name] = &create{
			name: c.Name, table: c.Table, value: c.Value, batch: batch, pass: pass, task: task, dropped: dropped,
		}
	case Stage:
		made := m.creates[c.Name]
		// Staged finds a create only through the queue that recorded it.
		want := made != nil && made.batch == batch && made.table == c.Table && made.pass == pass && made.task == task
		if want != c.OK {
			return fmt.Errorf("table %d: Staged of %%%d is %v; want %v", c.Table, c.Name, c.OK, want)
		}
		if want {
			made.value = c.Value
		}
	case Set, Unset:
		c.own = m.isOwn(c, batch, pass, task)
	}
	return nil
}

// Seal makes the next flush apply the calls that have arrived.
func (m *Exact) Seal() {
	for _, commands := range m.calls[m.sealed:] {
		for i := range commands {
			if commands[i].Kind == Create {
				m.creates[commands[i].Name].batch = m.serial
			}
		}
	}
	m.sealed = len(m.calls)
}

// Waits reports whether a name is of a call that no flush has sealed.
func (m *Exact) Waits(name int) bool {
	c := m.creates[name]
	return c != nil && c.batch == 0 && !c.dropped
}

// Pending returns the number of commands of passes and calls that wait for a flush.
func (m *Exact) Pending() int {
	return m.recorded() + held(m.calls)
}

// recorded returns the number of commands of passes.
func (m *Exact) recorded() int {
	n := 0
	for _, p := range m.passes {
		for _, commands := range p.tasks {
			n += records(commands)
		}
	}
	return n
}

// BatchFull reports whether passes and calls are refused. Commands in open
// queues do not count.
func (m *Exact) BatchFull() bool {
	n := m.Pending()
	for _, p := range m.passes {
		for _, commands := range p.tasks {
			if p.open {
				n -= records(commands)
			}
		}
	}
	return m.BatchLimit > 0 && n >= m.BatchLimit
}

// held returns the number of commands of calls.
func held(calls [][]Command) int {
	n := 0
	for _, commands := range calls {
		n += records(commands)
	}
	return n
}

// InboxFull reports whether the inbox refuses a call before it records.
func (m *Exact) InboxFull() bool {
	return m.BatchFull() || m.InboxLimit > 0 && held(m.calls) >= m.InboxLimit
}

// AddCall records a call of the inbox. It reports whether the call is dropped
// because the inbox is full.
func (m *Exact) AddCall(commands []Command, failed bool) (full bool, err error) {
	full = m.InboxLimit > 0 && records(commands) > 0 && held(m.calls)+records(commands) > m.InboxLimit
	if full {
		m.seen.See(InboxLimit)
	}
	// Each call has a number of its own, so that its queue differs from every other queue.
	m.attempts++
	for i := range commands {
		if e := m.note(&commands[i], inboxPass, m.attempts, failed || full); e != nil && err == nil {
			err = e
		}
	}
	if !failed && !full && records(commands) > 0 {
		m.calls = append(m.calls, commands)
	}
	return full, err
}

// Discard drops the batch and the calls that have arrived.
func (m *Exact) Discard() {
	m.Seal()
	m.finish()
}

// A Mark is a place between the passes of a batch, in both models.
type Mark struct{ serial, passes, commands int }

// Mark returns the place after the passes that began so far.
func (m *Exact) Mark(a *Abstract) Mark { return Mark{m.serial, len(m.passes), len(a.batch)} }

// DropSince drops the commands of the passes that began after k. If a flush has
// applied the batch of k, it drops all commands.
func (m *Exact) DropSince(k Mark, a *Abstract) {
	if k.serial != m.serial {
		k = Mark{}
	}
	for _, p := range m.passes[k.passes:] {
		p.tasks = nil
	}
	for _, c := range m.creates {
		// Calls of the inbox belong to no pass and stay.
		c.dropped = c.dropped || c.batch == m.serial && c.pass >= k.passes && c.pass != inboxPass
	}
	a.batch = a.batch[:k.commands]
}

// finish begins the next batch. Calls that arrived after the seal stay.
func (m *Exact) finish() {
	m.passes, m.calls, m.sealed = nil, m.calls[m.sealed:], 0
	m.serial++
}

// Resolve returns the expected answer of Resolve: the real handle until a later
// frame has flushed something.
func (m *Exact) Resolve(name int) (uint64, bool) {
	c := m.creates[name]
	if c == nil || c.real == 0 || c.frame != m.flushed {
		return 0, false
	}
	return c.real, true
}

// pending returns the create of this batch that a command names, or nil: a name of another
// batch, of a failed pass or of another table is stale.
func (m *Exact) pending(c *Command, table int) *create {
	made := m.creates[c.Name]
	if c.Name == 0 || made == nil || made.batch != m.serial || made.dropped || made.table != table {
		return nil
	}
	return made
}
