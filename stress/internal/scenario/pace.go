package scenario

import (
	"context"
	"time"
)

// pace says when ticks are due.
type pace struct {
	begun  time.Time
	period time.Duration // 0: a tick is due when the one before has ended
	now    func() time.Time
}

// due returns the intended start of a tick, counted from 0.
func (p *pace) due(tick int) time.Time { return p.begun.Add(time.Duration(tick) * p.period) }

// wait returns the intended start of a tick, when that has come; at once when it
// has passed. It fails when ctx ends.
func (p *pace) wait(ctx context.Context, tick int) (time.Time, error) {
	now := p.now()
	if p.period == 0 {
		return now, ctx.Err()
	}
	due := p.due(tick)
	if ahead := due.Sub(now); ahead > 0 {
		timer := time.NewTimer(ahead)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return due, ctx.Err()
}

// late reports whether a tick that ended then was not done when the next was due.
func (p *pace) late(tick int, ended time.Time) bool {
	return p.period > 0 && ended.After(p.due(tick+1))
}
