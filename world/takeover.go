package world

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"time"

	"handloom/internal/entry"
)

const (
	minHandoffWait = 300 * time.Millisecond // for a handoff to another version
	maxWait        = 5 * time.Second

	// Two terms within this many waits mean that ticks take longer than the wait.
	stormWaits = 10
)

// firstWait returns the election timeout, which sawTerm may double.
func (w *World) firstWait() time.Duration {
	timeout := w.log.ElectionTimeout()
	if timeout == 0 {
		return 0
	}
	return max(timeout, 3*w.tickTime())
}

// untilLead returns the time until this World may lead, if no record follows.
func (w *World) untilLead() time.Duration {
	h, wait := w.at(), w.wait
	switch r := w.role.(type) {
	case *candidate, *leader: // a Handoff has appended the start of its term
		return 0
	case *offer:
		return w.offered(r)
	}
	switch {
	case w.o.Observe:
		return endless
	case h.Handed && h.To != w.o.Version && w.isShared():
		wait += min(max(time.Duration(h.Wait), minHandoffWait), maxHandoff)
	case h.Handed, h.at == 0: // with a lock, no other World can be there
		wait = 0
	}
	return wait - time.Since(w.lastRecord)
}

// becomeLeader begins a term, if the log answers and all its records are applied. Otherwise left is
// the time until this World may do so, if no record follows position at.
func (w *World) becomeLeader(ctx context.Context) (left time.Duration, at uint64, err error) {
	if err := w.lockRunning(ctx); err != nil {
		return 0, 0, err
	}
	defer w.unlock()
	left, at = w.untilLead(), w.at().at
	if w.is(leading) || w.is(waiting) || left > 0 {
		return left, at, nil // a Handoff may have made it the leader
	}
	if w.pending() == nil {
		tail, err := w.log.Tail(ctx)
		switch {
		case errors.Is(err, fs.ErrClosed):
			return 0, at, w.halt(fmt.Errorf("world: %w", err))
		case err != nil: // the log may have new records
			w.lastRecord = time.Now()
			return 0, at, sleep(ctx, firstRetry)
		case tail > at: // another World may lead by these records
			return max(w.wait, firstRetry), at, nil
		}
		w.change(event{kind: startSealed, role: &candidate{w.sealTermStart()}})
	}
	return 0, at, w.complete(ctx)
}

func (w *World) sealTermStart() *pending {
	h := w.at()
	r := w.record(entry.KindTermStart, &h)
	r.Term++
	if r.Cell == 0 {
		r.Cell = random()
	}
	// A World that applies the start compares all shards with the leader's.
	r.State = w.state(&h)
	r.Start = w.termStart
	return &pending{prev: h.at, bytes: r.Append(nil)}
}

func (w *World) newTermStart() entry.TermStart {
	schema := fmt.Appendf(nil, "%d bits\n%s", strconv.IntSize, w.exclusive.Schema())
	return entry.TermStart{Version: w.o.Version, Hz: uint32(w.o.Hz), Arch: runtime.GOARCH, Go: runtime.Version(), Schema: entry.Chain{}.Next(schema)}
}

func (w *World) mayApply(other *entry.TermStart) error {
	local := &w.termStart
	switch {
	case other.Version != local.Version:
		return fmt.Errorf("%w: got %q, want %q", errOther, other.Version, local.Version)
	case other.Schema != local.Schema:
		return fmt.Errorf("%w: size of int, limits or options of tables differ from those of the log, which has only their hash; change them back, or name another Options.Version; got %d bits and\n%s", ErrVersion, strconv.IntSize, w.exclusive.Schema())
	case !w.o.Portable && (other.Arch != local.Arch || other.Go != local.Go):
		return fmt.Errorf("%w: built by %s for %s, want %s for %s; name another Options.Version, or see Options.Portable", ErrVersion, other.Go, other.Arch, local.Go, local.Arch)
	}
	return nil
}

// sawTerm doubles the wait, up to 5 s, if ticks take longer than the wait. It ignores the terms
// that follow handoffs.
func (w *World) sawTerm() {
	now := time.Now()
	if !w.termAt.IsZero() && now.Sub(w.termAt) < stormWaits*w.wait {
		w.wait = min(2*w.wait, max(maxWait, w.firstWait()))
	} else {
		w.wait = w.firstWait()
	}
	w.termAt = now
}
