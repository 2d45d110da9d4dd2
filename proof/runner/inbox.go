package runner

import (
	"context"
	"errors"

	"handloom/proof/model"
	"handloom/proof/script"
	"handloom/store"
)

// outside is the context of commands outside tasks.
var outside context.Context

var errInbox = errors.New("the call fails")

// call is a call of the inbox on its own goroutine.
type call struct {
	*running
	refused bool
	epoch   uint64
	last    chan struct{} // close it to end the call after it has recorded
	done    chan struct{}
	err     error
}

// inbox sends a call to the inbox from another goroutine. With fail=1 the call
// fails. With late=1 it ends after the following steps, at the latest at the
// next flush, unless a limit could refuse it meanwhile.
func (p *executor) inbox(s *script.Step, inWrite bool) {
	c := &call{running: p.running(s, 1), refused: p.exact.InboxFull(), epoch: p.exact.Epoch(), last: make(chan struct{}), done: make(chan struct{})}
	recorded := make(chan struct{})
	go func() {
		defer close(c.done)
		c.err = p.store.Inbox(func(q store.Queue) error { return c.record(q, recorded) })
	}()
	select {
	case <-recorded:
	// A refused call does not call its function.
	case <-c.done:
	}
	if s.Arg("late") == 1 && !inWrite && p.late == nil && p.program.Store == (script.Store{}) {
		p.late = c
		return
	}
	c.arrive()
}

// record records the commands of the call and then waits until it may end.
func (c *call) record(q store.Queue, recorded chan struct{}) error {
	// The runner continues as soon as everything is recorded.
	defer func() {
		close(recorded)
		<-c.last
	}()
	for _, command := range c.bodies[0] {
		if c.places[0].at++; !fails(command.Op) {
			c.command(outside, command, 0, q)
		}
	}
	if c.step.Arg("fail") == 1 {
		return errInbox
	}
	return nil
}

// mayRunDuringCall reports whether a call may be open during a step.
func mayRunDuringCall(op script.Op) bool {
	switch op {
	case script.Each, script.ForEach, script.ForEachRows, script.ForEachSparse, script.AddColumn, script.AddSparse, script.Queues, script.Inbox, script.Reduce, script.Read, script.Write:
		return true
	}
	return isFlush(op)
}

// endLate ends the open call, if any.
func (p *executor) endLate() {
	if c := p.late; c != nil {
		p.late = nil
		// A flush came between its first command and its end.
		if c.epoch < p.exact.Epoch() && len(c.logs[0]) > 0 {
			p.see(model.LateCall)
		}
		c.arrive()
	}
}

// arrive ends the call and compares the result. One call arrives at a time, so the program
// decides the order of calls.
func (c *call) arrive() {
	close(c.last)
	<-c.done
	failing := c.step.Arg("fail") == 1
	if c.refused {
		c.expect(c.err, store.ErrQueueFull, "Inbox when it, or the batch, is full")
		c.see(model.InboxLimit)
		c.want(len(c.logs[0]) == 0, "Inbox calls its function although the batch is full")
		return
	}
	full, wrong := c.exact.AddCall(c.logs[0], failing)
	switch {
	case wrong != nil:
		c.fail(Model, "%v", wrong)
	case failing:
		c.expect(c.err, errInbox, "Inbox")
	case full:
		c.expect(c.err, store.ErrQueueFull, "Inbox beyond a limit")
	case c.err != nil:
		c.fail(Model, "Inbox: %v", c.err)
	default:
		c.running.record(true)
	}
	c.checkPending()
}
