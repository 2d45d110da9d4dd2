package model

import (
	"fmt"
	"math"
)

// inboxPass is the number that stands for the inbox in keys.
const inboxPass = math.MaxInt32

// BeginPass counts a pass, whatever becomes of it, and returns its number.
func (m *Exact) BeginPass() int {
	m.passes = append(m.passes, &pass{})
	return len(m.passes) - 1
}

// EndPass says what the tasks of a pass recorded, task by task, and whether it
// failed; open says that its queues stay in use until the flush. It returns what
// the store cannot have answered.
func (m *Exact) EndPass(number int, tasks [][]Command, failed, open bool) (err error) {
	p := m.passes[number]
	p.open = open
	for task, commands := range tasks {
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

// records counts commands: completing a staged value is none.
func records(commands []Command) int {
	n := 0
	for i := range commands {
		if commands[i].Kind != Stage {
			n++
		}
	}
	return n
}

// note takes up a create, or the completion of one, when it is recorded.
func (m *Exact) note(c *Command, pass, task int, dropped bool) error {
	batch := m.serial
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

// Seal has the next flush apply the calls of the inbox that have arrived.
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

// Waits reports whether a create came through the inbox, and was not sealed.
func (m *Exact) Waits(name int) bool {
	c := m.creates[name]
	return c != nil && c.batch == 0 && !c.dropped
}

// Pending returns how many commands wait for a flush.
func (m *Exact) Pending() int {
	return m.recorded() + held(m.calls)
}

// recorded is how many commands the passes of the batch hold.
func (m *Exact) recorded() int {
	n := 0
	for _, p := range m.passes {
		for _, commands := range p.tasks {
			n += records(commands)
		}
	}
	return n
}

// BatchFull reports whether no further pass may start and no call of the inbox is
// taken: what open queues hold does not count.
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

// held is how many commands calls of the inbox hold.
func held(calls [][]Command) int {
	n := 0
	for _, commands := range calls {
		n += records(commands)
	}
	return n
}

// InboxFull reports whether no call of the inbox is taken.
func (m *Exact) InboxFull() bool {
	return m.BatchFull() || m.InboxLimit > 0 && held(m.calls) >= m.InboxLimit
}

// Arrive says what a call of the inbox recorded, and whether it failed. It
// reports whether the call is, with those before it, more than the inbox may hold,
// so that nothing of it is kept.
func (m *Exact) Arrive(commands []Command, failed bool) (full bool, err error) {
	full = m.InboxLimit > 0 && records(commands) > 0 && held(m.calls)+records(commands) > m.InboxLimit
	if full {
		m.seen.See(InboxLimit)
	}
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

// Discard drops the batch.
func (m *Exact) Discard() {
	m.Seal()
	m.finish()
}

func (m *Exact) finish() {
	m.passes, m.calls, m.sealed = nil, m.calls[m.sealed:], 0
	m.serial++
}

// Resolve returns what Resolve must say of the provisional handle of a create:
// the real handle until another frame has flushed something.
func (m *Exact) Resolve(name int) (uint64, bool) {
	c := m.creates[name]
	if c == nil || c.real == 0 || c.frame != m.flushed {
		return 0, false
	}
	return c.real, true
}

// pending returns the create that a command means, if it is of this batch and
// of the table.
func (m *Exact) pending(c *Command, table int) *create {
	made := m.creates[c.Name]
	if c.Name == 0 || made == nil || made.batch != m.serial || made.dropped || made.table != table {
		return nil
	}
	return made
}
