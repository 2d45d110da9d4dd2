package history

import (
	"context"
	"errors"

	"handloom/internal/hook"
	"handloom/store"
	"handloom/world"
)

// A stage plays some ticks of the log again from one state, with other calls. Number, Seed and Time
// of the ticks stay.
type stage struct {
	*player
	driver hook.Driver
	tables []hook.Table
	from   moment
	ticks  []stageTick
}

type stageTick struct {
	world.Tick
	calls [][]hook.Command // logged
}

// newStage moves the cursor to the state after tick from, and reads the input of the ticks up to to.
// leave ends the stage.
func (h *History) newStage(ctx context.Context, from, to uint64) (*stage, error) {
	p, err := h.seek(ctx, from, to)
	if err != nil {
		return nil, err
	}
	s := &stage{player: p, driver: hook.NewDriver(p.Replayer), from: moment{tick: from}}
	s.tables = s.driver.Tables()
	if err := p.Save(ctx, &s.from.state); err != nil {
		return nil, err
	}
	skipped := map[uint64]bool{}
	for _, tick := range p.span.Skipped {
		skipped[tick] = true
	}
	for p.tick.Number < to {
		calls, err := s.driver.Input(ctx)
		if err == nil || p.tick.Number == p.span.Last {
			err = p.next(ctx) // its error has the tick
		}
		if err != nil {
			return nil, err
		}
		if skipped[p.tick.Number] {
			calls = nil
		}
		s.ticks = append(s.ticks, stageTick{p.tick, calls})
	}
	return s, nil
}

// leave returns to the first state.
func (s *stage) leave(ctx context.Context) { _ = s.back(ctx, &s.from) }

// run plays a tick with calls. ok is false if the tick fails.
func (s *stage) run(ctx context.Context, t world.Tick, calls [][]hook.Command) (ok bool, err error) {
	err = s.driver.Run(ctx, t.Number, t.Seed, t.Time, calls)
	switch {
	case err == nil:
		s.tick = t
		return true, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, world.ErrTick):
		err = nil
	}
	s.lost = true
	return false, err
}

// tableOf returns the number of the table with an item, or -1.
func (s *stage) tableOf(id store.ID) int {
	for i, t := range s.tables {
		if shard := int(id.TypeID()) - int(t.TypeID); shard >= 0 && shard < t.Shards {
			return i
		}
	}
	return -1
}

// A part of the calls of a stage is named by its ticks and calls, both from 0.
type callIndex struct{ tick, call int }

// all returns the calls of the stage in order.
func (s *stage) all() (calls []callIndex) {
	for i, t := range s.ticks {
		for k := range t.calls {
			calls = append(calls, callIndex{i, k})
		}
	}
	return calls
}

// reduce removes elements from all, many at once and then one by one, until holds is false without
// any one of the rest. holds is true for all.
func reduce[T any](all []T, holds func(some []T) (bool, error)) ([]T, error) {
	for size := max(1, len(all)/2); ; {
		removed := false
		for i := 0; i < len(all); {
			j := min(i+size, len(all))
			some := append(append([]T(nil), all[:i]...), all[j:]...)
			ok, err := holds(some)
			if err != nil {
				return nil, err
			}
			if ok {
				all, removed = some, true
			} else {
				i = j
			}
		}
		switch {
		case size > 1:
			size /= 2
		case !removed:
			return all, nil
		}
	}
}
