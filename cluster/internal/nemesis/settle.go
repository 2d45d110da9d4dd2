//go:build unix

package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const askEvery = 20 * time.Millisecond

// until waits for something, as long as settling may take.
func until(ctx context.Context, is func() bool) error {
	deadline := time.Now().Add(settleTime)
	for !is() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Now().After(deadline) {
			return ErrStuck
		}
		time.Sleep(askEvery)
	}
	return nil
}

// settleTime is how long it may take until all is well behind an event: some elections, and
// a server that catches up.
const settleTime = 2 * time.Minute

// ErrStuck says that something did not get well within two minutes.
var ErrStuck = errors.New("it does not come back")

// settled waits until every process is up, all replicas are current, and every node applies
// new ticks.
func (f *fleet) settled(ctx context.Context) error {
	from := f.gaps.newest() + 1
	if err := until(ctx, func() bool {
		if f.bad() {
			return true
		}
		for _, s := range f.servers {
			if !s.isUp() {
				return false
			}
		}
		for _, n := range f.nodes {
			if s, _, up := n.look(); !up || s.tick < from {
				return false
			}
		}
		return f.owner() != nil
	}); err != nil {
		return f.why(err)
	}
	if err := until(ctx, func() bool {
		_, current := f.leader(ctx)
		return current || f.bad()
	}); err != nil {
		return f.why(fmt.Errorf("replicas are not current: %w", err))
	}
	return nil
}

func (f *fleet) bad() bool {
	found := f.auditor.Findings()
	return found.Bad()
}

// why says what each process said last.
func (f *fleet) why(err error) error {
	if !errors.Is(err, ErrStuck) {
		return err
	}
	f.each(func(m *member) {
		m.mutex.Lock()
		err = fmt.Errorf("%w; %s: up %t, said %q", err, m.name, m.up, m.last)
		m.mutex.Unlock()
	})
	return fmt.Errorf("%w; newest tick %d", err, f.gaps.newest())
}

// leader returns the server that leads the stream, nil if none does, and whether all
// others have all of it.
func (f *fleet) leader(ctx context.Context) (leader *member, current bool) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	stream, err := f.js.Stream(ctx, cell.Stream())
	if err != nil {
		return nil, false
	}
	c := stream.CachedInfo().Cluster
	if c == nil {
		return nil, false
	}
	current = len(c.Replicas) == members-1
	for _, r := range c.Replicas {
		current = current && r.Current && !r.Offline
	}
	for _, s := range f.servers {
		if s.name == c.Leader {
			leader = s
		}
	}
	return leader, current && leader != nil
}

// owner returns the node that owns the log, as far as nodes know that run, nil if none.
func (f *fleet) owner() *node {
	var owner *node
	var term uint32
	for _, n := range f.nodes {
		if s, _, up := n.look(); up && n.process != nil && !n.paused && s.owner && s.term >= term {
			owner, term = n, s.term
		}
	}
	return owner
}
