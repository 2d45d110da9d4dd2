package world_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// away is a log that does not tell its tail and snapshots for so many questions each.
type away struct {
	world.Log
	tails, saves int
	err          error
}

func (a *away) Tail(ctx context.Context) (uint64, error) {
	if a.tails--; a.tails >= 0 {
		return 0, a.err
	}
	return a.Log.Tail(ctx)
}

func (a *away) Saved(ctx context.Context) ([]uint64, error) {
	if a.saves--; a.saves >= 0 {
		return nil, a.err
	}
	return a.Log.Saved(ctx)
}

var errElection = errors.New("there is no leader")

// A log on other machines may be away for a moment. Nothing is given up for that.
func TestALogThatIsAwayForAMoment(t *testing.T) {
	t.Run("Open", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			shared := world.Memory()
			w := mustOpen(t, newGame(t, store.Options{}), shared)
			steps(t, w, 10)
			mustClose(t, w)
			l := &away{shared, 12, 12, errElection}
			v := mustOpen(t, newGame(t, store.Options{}), l)
			if s := v.Status(); s.Tick != 10 || l.tails >= 0 || l.saves >= 0 {
				t.Errorf("%v, with %d and %d refusals left", s, l.tails, l.saves)
			}
			mustClose(t, v)
		})
	})
	t.Run("behind", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			shared := world.Memory()
			l := &away{Log: shared, err: errElection}
			w, v := mustOpen(t, newGame(t, store.Options{}), shared), mustOpen(t, newGame(t, store.Options{}), l)
			for range 100 {
				steps(t, w, 1)
				synctest.Wait()
			}
			l.saves = 12
			for v.Status().Tick < 100 {
				mustStep(t, v)
			}
			if l.saves >= 0 {
				t.Errorf("%d refusals left", l.saves)
			}
			mustClose(t, v)
			mustClose(t, w)
		})
	})
}

// A log that stays away fails Open with its own error, one that is closed at once.
func TestALogThatStaysAway(t *testing.T) {
	for _, c := range []struct {
		err   error
		least time.Duration
		most  time.Duration
	}{{errElection, 30 * time.Second, 32 * time.Second}, {fs.ErrClosed, 0, 0}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGame(t, store.Options{})
			begin := time.Now()
			_, err := world.Open(t.Context(), g.Store, &away{world.Memory(), 1 << 20, 1 << 20, c.err}, g.options())
			if took := time.Since(begin); !errors.Is(err, c.err) || took < c.least || took > c.most {
				t.Errorf("%v: fails after %v with %v", c.err, took, err)
			}
		})
	}
}
