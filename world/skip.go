package world

import (
	"context"
	"errors"
	"fmt"

	"handloom/internal/check"
	"handloom/internal/entry"
)

// SkipInput makes worlds that are opened later run a tick without its input if the input fails
// it. The tick must be the last one of the log; the [TickError] has its number. If it fails
// without input, too, fix the program.
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
		return fmt.Errorf("world: SkipInput: the last record is a %v, tick %d; want tick %d with input", r.Kind, r.Tick, tick)
	}
	skip := entry.Record{Kind: entry.KindSkip, Cell: r.Cell, Incarnation: random(), Term: r.Term, Tick: tick, Time: r.Time, Chain: r.Chain.Next(rec)}
	if _, err := l.Append(ctx, at, skip.Append(nil)); err != nil {
		return fmt.Errorf("world: SkipInput: %w", err)
	}
	return nil
}

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

// findSkips finds the skip records up to position tail, because each follows its tick.
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
