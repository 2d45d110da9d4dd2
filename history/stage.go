package history

import (
	"context"
	"errors"
	"slices"

	"handloom/internal/entrance"
	"handloom/world"
)

// A stage plays a tick of the log again from one state, with other calls. Number, Seed and Time of
// the tick stay.
type stage struct {
	*player
	driver entrance.Driver
	tables []entrance.Table
	from   moment
	logged stageTick
}

type stageTick struct {
	world.Tick
	calls [][]entrance.Command
}

// newStage moves the cursor to the state before a tick, and reads the input of the tick. leave ends
// the stage.
func (h *History) newStage(ctx context.Context, tick uint64) (*stage, error) {
	p, err := h.seek(ctx, tick-1, tick)
	if err != nil {
		return nil, err
	}
	s := &stage{player: p, driver: p.Entrance(entrance.Key{}), from: moment{tick: tick - 1}}
	s.tables = s.driver.Tables()
	if err := p.Save(ctx, &s.from.state); err != nil {
		return nil, err
	}
	// The input is of the next tick, so it is read before the tick plays.
	calls, err := s.driver.Input(ctx)
	if err != nil {
		return nil, err
	}
	// The tick plays once as it is in the log: for its number, seed and time.
	if err := p.next(ctx); err != nil {
		return nil, err
	}
	if slices.Contains(p.span.skipped, tick) {
		calls = nil
	}
	s.logged = stageTick{p.tick, calls}
	return s, nil
}

// leave returns to the first state.
func (s *stage) leave(ctx context.Context) { _ = s.back(ctx, &s.from) }

// run plays the tick with calls. ok is false if the tick fails.
func (s *stage) run(ctx context.Context, calls [][]entrance.Command) (ok bool, err error) {
	t := s.logged.Tick
	err = s.driver.Run(ctx, t.Number, t.Seed, t.Time, calls)
	switch {
	case err == nil:
		s.tick = t
		return true, nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, world.ErrTick):
		err = nil // without some of its commands a tick may fail: then they stay
	}
	s.lost = true
	return false, err
}

// reduce removes elements from all, many at once and then one by one, until holds is false without
// any one of the rest. holds is true for all. It need not be monotone: an element that was needed may
// go after others went, so single elements are tried until a round removes none.
func reduce[T any](all []T, holds func(some []T) (bool, error)) ([]T, error) {
	for size := max(1, len(all)/2); ; {
		removed := false
		for i := 0; i < len(all); {
			j := min(i+size, len(all))
			// A copy: holds may keep it, and all must survive a failed try.
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
			return all, nil // a whole round of single elements has kept each
		}
	}
}
