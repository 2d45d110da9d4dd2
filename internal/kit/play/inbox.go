package play

import (
	"context"
	"errors"
	"sync"
	"unsafe"

	"handloom/internal/kit/model"
	"handloom/internal/kit/program"
	"handloom/store"
)

// outside is the context of what records without being a task.
var outside context.Context

var errInbox = errors.New("the call fails")

// inbox records through the inbox, from a goroutine that takes part in nothing
// else. With fail=1 the call fails and leaves nothing.
func (p *player) inbox(s *program.Step) {
	r := p.running(s, 1)
	refused := p.exact.InboxFull()
	var err error
	var call sync.WaitGroup
	call.Go(func() {
		err = p.store.Inbox(func(q store.Queue) error {
			for _, c := range r.bodies[0] {
				if r.places[0].at++; !fails(c.Op) {
					r.command(outside, c, 0, q)
				}
			}
			if s.Arg("fail") == 1 {
				return errInbox
			}
			return nil
		})
	})
	call.Wait()
	if refused {
		p.expect(err, store.ErrQueueFull, "Inbox when it, or the batch, is full")
		p.see(model.InboxLimit)
		if len(r.logs[0]) > 0 {
			p.fail(Model, "Inbox calls its function although the batch is full")
		}
		return
	}
	full, wrong := p.exact.Arrive(r.logs[0], s.Arg("fail") == 1)
	switch {
	case wrong != nil:
		p.fail(Model, "%v", wrong)
	case s.Arg("fail") == 1:
		p.expect(err, errInbox, "Inbox")
	case full:
		p.expect(err, store.ErrQueueFull, "Inbox beyond a limit")
	case err != nil:
		p.fail(Model, "Inbox: %v", err)
	default:
		r.record(true)
		if len(r.logs[0]) > 0 {
			p.see(model.InboxCall)
		}
		p.seeBytes(r.logs[0])
	}
	p.checkPending()
}

// seeBytes counts the inbox calls of a program that has a limit of bytes once
// they recorded more than that, one batch after another.
func (p *player) seeBytes(log []model.Command) {
	for i := range log {
		if log[i].Kind == model.Create && p.program.Tables[log[i].Table].Item == program.Big {
			p.bytes += int(unsafe.Sizeof(big{}))
		}
	}
	if limit := p.program.Store.BatchBytes; limit > 0 && p.bytes > limit {
		p.see(model.InboxBytes)
	}
}
