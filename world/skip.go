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
	return recordAfter(ctx, l, tail-1)
}
