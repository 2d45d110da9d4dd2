package audit

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"handloom/world"
)

// Finish checks l, and compares all reports with a replay of every record. Call it after all
// appends, ticks and calls. It fails if l does not answer; faults are findings.
func (a *Auditor) Finish(ctx context.Context, l world.Log, p App, workers int) error {
	if err := a.Check(ctx, l, p, workers); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	all, err := a.whole(ctx, p)
	if err != nil {
		return err
	}
	taken := make(map[uint64][]uint64) // ticks by key
	last, err := a.replay(ctx, all, p, workers, func(p TickResult) {
		for _, key := range p.Keys {
			taken[key] = append(taken[key], p.Number)
		}
	})
	if err != nil {
		return fmt.Errorf("replay of all records: %w", err)
	}
	a.judge(taken, last.Number)
	return nil
}

// judge compares calls and reported ticks with the replayed ticks, up to the last.
func (a *Auditor) judge(taken map[uint64][]uint64, last uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	f := &a.found
	f.Ticks = int(last)
	for _, key := range slices.Sorted(maps.Keys(a.calls)) {
		tick, in := a.calls[key], taken[key]
		switch {
		case len(in) > 1:
			a.fault(&f.Doubled, "call %x is in ticks %d", key, in)
		case tick > 0 && len(in) == 0:
			a.fault(&f.Lost, "call %x was acknowledged in tick %d, but is not in the log", key, tick)
		case tick > 0 && in[0] != tick:
			a.fault(&f.Changed, "call %x was acknowledged in tick %d, but is in tick %d", key, tick, in[0])
		}
		if tick > 0 {
			f.Acked++
		} else {
			f.Uncertain++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(taken)) {
		if _, known := a.calls[key]; !known {
			a.fault(&f.Changed, "call %x is in ticks %d, but unknown", key, taken[key])
		}
	}
	for _, tick := range slices.Sorted(maps.Keys(a.reported)) {
		if tick > last {
			a.fault(&f.Lost, "tick %d was applied by %s, but the log ends with tick %d", tick, a.reported[tick].by, last)
		}
	}
}

// whole returns a log with all records after the snapshot of a new world.
func (a *Auditor) whole(ctx context.Context, p App) (world.Log, error) {
	s, o := p(1, func(TickResult) {})
	begun, l := world.Memory(), world.Memory()
	w, err := world.Open(ctx, s, begun, o)
	if err != nil {
		return nil, err
	}
	defer w.Close(ctx)
	genesis, err := begun.Load(ctx, 0)
	if err != nil {
		return nil, err
	}
	err = l.Save(ctx, 0, func(w io.Writer) error {
		_, err := io.Copy(w, genesis)
		return err
	})
	for i, r := range a.records {
		if err == nil {
			_, err = l.Append(ctx, uint64(i), r)
		}
	}
	return l, err
}
