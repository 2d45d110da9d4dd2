package world_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// slow is a log whose snapshots take a second to be loaded, longer than an owner may be
// silent.
type slow struct{ world.Log }

func (l slow) Load(ctx context.Context, at uint64) (io.ReadCloser, error) {
	select {
	case <-time.After(time.Second):
		return l.Log.Load(ctx, at)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// A follower goes on from a snapshot when the records that it lacks are trimmed, however
// long that takes to load, and whether or not a Step ends meanwhile.
func TestAFollowerThatIsFarBehindSkipsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := world.Memory()
		open := func(l world.Log) (*game, *world.World) {
			g := newGame(t, store.Options{})
			o := g.options()
			o.SnapshotTicks = 20
			w, err := world.Open(t.Context(), g.Store, l, o)
			if err != nil {
				t.Fatal(err)
			}
			return g, w
		}
		owner, w := open(shared)
		follower, v := open(slow{shared})
		for range 100 {
			steps(t, w, 1)
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if _, err := v.Step(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a Step that ends while a snapshot is loaded: %v", err)
		}
		for v.Status().Tick < 100 {
			mustStep(t, v)
		}
		wantSame(t, owner, follower)
		mustClose(t, v)
		mustClose(t, w)
	})
}

// outdated is a log that once tells of a snapshot that was given up since.
type outdated struct {
	world.Log
	told bool
}

func (o *outdated) Saved(ctx context.Context) ([]uint64, error) {
	if !o.told {
		o.told = true
		return []uint64{1}, nil
	}
	return o.Log.Saved(ctx)
}

// Others save snapshots, and give up older ones, while a world looks for one.
func TestSnapshotsThatAreGivenUpMeanwhileAreLookedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w := mustOpen(t, newGame(t, store.Options{}), l)
		steps(t, w, 20)
		mustClose(t, w)
		o := &outdated{Log: l}
		v := mustOpen(t, newGame(t, store.Options{}), o)
		if s := v.Status(); s.Tick != 20 || !o.told {
			t.Errorf("%v", s)
		}
		mustClose(t, v)
	})
}
