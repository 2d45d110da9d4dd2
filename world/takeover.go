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
	leastWait = 300 * time.Millisecond // behind a handoff to another program
	mostWait  = 5 * time.Second

	// Two terms within so many waits say that the wait is shorter than what owners
	// take for a tick.
	stormWaits = 10
)

// firstWait is how long a log must be quiet before a World takes over, unless terms
// follow each other too fast.
func (w *World) firstWait() time.Duration {
	silence := w.log.ElectionTimeout()
	if silence == 0 {
		return 0
	}
	return max(silence, 3*time.Second/time.Duration(w.o.Hz))
}

// failoverDelay returns how much longer the log must be quiet before this World may take
// over, or why it never may.
func (w *World) failoverDelay(ctx context.Context) (time.Duration, error) {
	if err := w.lockRunning(ctx); err != nil {
		return 0, err
	}
	defer w.unlock()
	h, wait := w.at(), w.wait
	switch {
	case w.o.Observe:
		return endless, nil
	case w.pending != nil:
		return 0, nil // a term that it wanted to begin
	case h.Handed && (h.To != w.o.Version || h.Owner == w.incarnation):
		wait = max(wait, leastWait) // the other may first
	case h.Handed, h.at == 0:
		wait = 0
	}
	return wait - time.Since(w.quiet), nil
}

// becomeLeader begins a term, if the log answers and has nothing that was not applied.
func (w *World) becomeLeader(ctx context.Context) error {
	if err := w.lockRunning(ctx); err != nil {
		return err
	}
	defer w.unlock()
	if w.pending == nil {
		tail, err := w.log.Tail(ctx)
		switch {
		case errors.Is(err, fs.ErrClosed):
			return w.halt(fmt.Errorf("world: %w", err))
		case err != nil: // nobody can tell that it is quiet
			w.quiet = time.Now()
			return sleep(ctx, firstRetry)
		case tail > w.at().at:
			defer w.drain()
			return w.catchUp(ctx, tail, origin{}, forever)
		}
		w.pending = w.sealTermStart()
	}
	return w.complete(ctx)
}

// sealTermStart makes the record that begins a term.
func (w *World) sealTermStart() *pending {
	h := w.at()
	r := w.record(entry.KindTermStart, &h)
	r.Term++
	if r.Cell == 0 {
		r.Cell = random()
	}
	r.State = w.state(h.tick)
	r.Start = w.termStart
	return &pending{prev: h.at, bytes: r.Append(nil)}
}

// ownTermStart is what this World says of its program.
func (w *World) ownTermStart() entry.TermStart {
	schema := fmt.Appendf(nil, "%d bits\n%s", strconv.IntSize, w.claim.Schema())
	return entry.TermStart{Program: w.o.Version, Hz: uint32(w.o.Hz), Arch: runtime.GOARCH, Go: runtime.Version(), Schema: entry.Chain{}.Next(schema)}
}

// mayApply says why records of an epoch cannot be applied here, or nil.
func (w *World) mayApply(of *entry.TermStart) error {
	own := &w.termStart
	switch {
	case of.Program != own.Program:
		return fmt.Errorf("%w: %q, and this is %q", ErrVersion, of.Program, own.Program)
	case of.Schema != own.Schema:
		return fmt.Errorf("%w: its tables, limits or size of an int are other ones than these, of %d bits:\n%s", ErrVersion, strconv.IntSize, w.claim.Schema())
	case !w.o.Portable && (of.Arch != own.Arch || of.Go != own.Go):
		return fmt.Errorf("%w: it was built by %s for %s, this by %s for %s; see Options.Portable", ErrVersion, of.Go, of.Arch, own.Go, own.Arch)
	}
	return nil
}

// sawTerm notes that another term began just now. When they follow each other too
// fast, because ticks take longer than the wait, it waits twice as long next time.
func (w *World) sawTerm() {
	now := time.Now()
	if !w.termAt.IsZero() && now.Sub(w.termAt) < stormWaits*w.wait {
		w.wait = min(2*w.wait, max(mostWait, w.firstWait()))
	} else {
		w.wait = w.firstWait()
	}
	w.termAt = now
}
