package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"handloom/internal/check"
	"handloom/internal/entry"
)

// Handoff ends the ownership: the log is given to worlds whose Options.Version is to,
// which take over at once; should none come, any world of this program may after a
// while. It returns when a snapshot of the state is saved. Calls of Submit that no
// tick has taken are [ErrNotLeader], and the World follows. When ctx ends before, Handoff
// returns its cause; an append or a snapshot that runs may still come to its end.
//
// A new version of the program goes on where the old one stopped in this way: the old
// one hands off to the name of the new one and is closed, and the new one is opened. On a
// log with a lock end Run before, or it may own the log again when nobody can come.
// Names have 1 KiB at most.
func (w *World) Handoff(ctx context.Context, to string) error {
	check.Given(ctx != nil, "world: Handoff", "context")
	if err := w.outside(ctx, "Handoff"); err != nil {
		return err
	}
	if len(to) > maxName {
		return fmt.Errorf("world: Handoff to a name of %d bytes: at most %d", len(to), maxName)
	}
	if err := w.lockRunning(ctx); err != nil {
		return fmt.Errorf("world: Handoff: %w", err)
	}
	err := within(ctx, func() error {
		defer w.unlock()
		return w.handOffAndSave(ctx, to)
	})
	if reason := w.appendErr(); reason != nil && errors.Is(err, errLate) {
		err = fmt.Errorf("%w; the log: %w", err, reason)
	}
	if err != nil {
		return fmt.Errorf("world: Handoff: %w", err)
	}
	return nil
}

func (w *World) handOffAndSave(ctx context.Context, to string) error {
	if err := w.handOff(ctx, to); err != nil {
		return err
	}
	defer func() { w.quiet = time.Now() }() // others have their time from when they can come
	return w.saveNow(ctx)
}

func (w *World) handOff(ctx context.Context, to string) error {
	ctx, cancel := w.untilClosed(ctx) // a log that does not answer would keep Close waiting
	defer cancel()
	if w.isLeader() && w.pending != nil {
		if err := w.complete(ctx); err != nil {
			return err
		}
	}
	h := w.at()
	switch {
	case h.Handed && h.Owner == w.incarnation && h.To == to:
		return nil // an earlier call ended before its snapshot was saved
	case !w.isLeader():
		return w.refusal()
	}
	r := w.record(entry.KindHandoff, &h)
	r.To = to
	r.State = w.state(h.tick)
	w.pending = &pending{prev: h.at, bytes: r.Append(nil)}
	return w.complete(ctx)
}

// SkipInput lets worlds that are opened from now on play a tick without its input, if it
// fails with it. It must be the last one of the log, whose worlds have halted with
// [ErrTick]: that tells the number. A tick that fails without its input as well needs
// another program.
func SkipInput(ctx context.Context, l Log, tick uint64) error {
	check.Given(ctx != nil, "world: SkipInput", "context")
	check.Given(l != nil, "world: SkipInput", "Log")
	at, rec, err := lastRecord(ctx, l)
	if err != nil {
		return fmt.Errorf("world: SkipInput: %w", err)
	}
	var r entry.Record
	switch err := r.Decode(rec); {
	case err != nil:
		return fmt.Errorf("world: SkipInput: %w", corrupt(at, "%w", err))
	case r.Kind == entry.KindSkip && r.Tick == tick:
		return nil
	case r.Kind != entry.KindTick || r.Tick != tick:
		return fmt.Errorf("world: SkipInput: the last record is a %v, tick %d; tick %d cannot be skipped", r.Kind, r.Tick, tick)
	}
	skip := entry.Record{Kind: entry.KindSkip, Cell: r.Cell, Incarnation: random(), Term: r.Term, Tick: tick, Time: r.Time, Chain: r.Chain.Next(rec)}
	if _, err := l.Append(ctx, at, skip.Append(nil)); err != nil {
		return fmt.Errorf("world: SkipInput: %w", err)
	}
	return nil
}

// lastRecord reads the last record of a log.
func lastRecord(ctx context.Context, l Log) (at uint64, rec []byte, err error) {
	tail, err := l.Tail(ctx)
	if err != nil || tail == 0 {
		return 0, nil, errors.Join(err, entry.ErrRecord)
	}
	err = l.Read(ctx, tail-1, func(there uint64, b []byte) error {
		at, rec = there, append([]byte(nil), b...)
		return errEnds
	})
	if errors.Is(err, errEnds) {
		err = nil
	}
	return at, rec, err
}

// findSkips notes the ticks up to the position tail that SkipInput was called for. It
// reads that part of the log once more than would else be needed, for such a record
// lies behind the one that it is about.
func (w *World) findSkips(ctx context.Context, tail uint64) error {
	w.skips = nil
	if w.at().at >= tail {
		return nil
	}
	err := w.log.Read(ctx, w.at().at, func(at uint64, rec []byte) error {
		if len(rec) > 3 && entry.Kind(rec[3]) == entry.KindSkip {
			var r entry.Record
			if r.Decode(rec) == nil {
				if w.skips == nil {
					w.skips = make(map[uint64]bool)
				}
				w.skips[r.Tick] = true
			}
		}
		if at >= tail {
			return errEnds
		}
		return nil
	})
	if errors.Is(err, errEnds) {
		return nil
	}
	return fmt.Errorf("world: %w", err)
}
