package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"handloom/world"
)

// Finish checks l, and all that was told against a replay of every record there ever
// was, with that many workers. It is for when nobody appends, applies or asks any more.
// It fails if l does not answer; what is wrong is a finding.
func (a *Auditor) Finish(ctx context.Context, l world.Log, p Program, workers int) error {
	if err := a.compare(ctx, l, a.last()); err != nil {
		return fmt.Errorf("the end of the log: %w", err)
	}
	if err := a.Check(ctx, l, p, workers); err != nil {
		return fmt.Errorf("the log: %w", err)
	}
	genesis, err := genesis(ctx, p)
	if err != nil {
		return err
	}
	taken := make(map[uint64][]uint64) // ticks, by key
	all := &recorded{records: a.records, genesis: genesis}
	err = a.replay(ctx, all, p, workers, func(p Played) {
		for _, key := range p.Keys {
			taken[key] = append(taken[key], p.Number)
		}
	})
	if err != nil {
		return fmt.Errorf("the replay of all records: %w", err)
	}
	a.judge(taken)
	return nil
}

// judge holds calls and ticks against the ticks that took them in the replay.
func (a *Auditor) judge(taken map[uint64][]uint64) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	f := &a.found
	for _, key := range slices.Sorted(maps.Keys(a.calls)) {
		c, in := a.calls[key], taken[key]
		switch {
		case len(in) > 1:
			a.fault(&f.Doubled, "call %x is in ticks %d", key, in)
		case c.answer == acked && len(in) == 0:
			a.fault(&f.Lost, "call %x was acknowledged in tick %d, and is not in the log", key, c.tick)
		case c.answer == acked && (in[0] > c.tick || in[0] != c.tick && !c.open):
			a.fault(&f.Changed, "call %x was acknowledged in tick %d, and is in tick %d", key, c.tick, in[0])
		case c.answer == refused && len(in) > 0:
			a.fault(&f.Changed, "call %x was refused, and is in tick %d", key, in[0])
		}
		switch c.answer {
		case acked:
			f.Acked++
		case refused:
			f.Refused++
		default:
			f.Uncertain++
		}
	}
	for _, key := range slices.Sorted(maps.Keys(taken)) {
		if a.calls[key] == nil {
			a.fault(&f.Changed, "call %x is in ticks %d, and nobody made it", key, taken[key])
		}
	}
	for _, tick := range slices.Sorted(maps.Keys(a.told)) {
		if tick > a.tick {
			a.fault(&f.Lost, "tick %d was applied by %s, and the log ends with tick %d", tick, a.told[tick].by, a.tick)
		}
	}
}

// genesis returns the snapshot that a world of this program begins its log with.
func genesis(ctx context.Context, p Program) ([]byte, error) {
	s, o, err := p(1, func(Played) {})
	if err != nil {
		return nil, err
	}
	l := world.Memory()
	w, err := world.Open(ctx, s, l, o)
	if err != nil {
		return nil, err
	}
	defer w.Close(ctx)
	r, err := l.Load(ctx, 0)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// recorded is a log of records in memory, to be read.
type recorded struct {
	records []record
	genesis []byte
}

var errReadOnly = errors.New("the log is a copy")

func (r *recorded) Append(context.Context, uint64, []byte) (uint64, error) { return 0, errReadOnly }

func (r *recorded) Read(ctx context.Context, after uint64, each func(at uint64, rec []byte) error) error {
	for _, rec := range r.records {
		if rec.at <= after {
			continue
		}
		if err := each(rec.at, rec.bytes); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

func (r *recorded) Tail(context.Context) (uint64, error) {
	if len(r.records) == 0 {
		return 0, nil
	}
	return r.records[len(r.records)-1].at, nil
}

func (r *recorded) Silence() time.Duration { return 0 }

func (r *recorded) Save(context.Context, uint64, func(w io.Writer) error) error { return errReadOnly }

func (r *recorded) Saved(context.Context) ([]uint64, error) { return []uint64{0}, nil }

func (r *recorded) Load(context.Context, uint64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(r.genesis)), nil
}

func (r *recorded) Trim(context.Context, uint64) error { return errReadOnly }
