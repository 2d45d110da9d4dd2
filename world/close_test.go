package world_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

func TestClose_SavesLastState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &faulty{Log: world.Memory()}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		l.save = func(ctx context.Context, at uint64, write func(w io.Writer) error) error {
			l.save = nil
			<-ctx.Done()
			return context.Cause(ctx)
		}
		steps(t, w, 7) // a snapshot is due after the 7th
		synctest.Wait()
		mustClose(t, w)
		equal(t, "newest snapshot", snapshotsOf(t, l)[0], w.Status().Position)
	})
}

func TestClose_CompletesAppend(t *testing.T) {
	for name, kept := range map[string]bool{"the log has the record": true, "the log lacks it": false} {
		inBubble(t, name, func(t *testing.T) {
			l := &faulty{Log: world.Memory()}
			g, w := newWorld(t, store.Options{}, l)
			steps(t, w, 2)
			ctx, end := context.WithCancel(t.Context())
			l.append = func(ctx context.Context, prev uint64, rec []byte) (at uint64, err error) {
				l.append = nil
				end()
				if kept {
					_, err = l.Log.Append(context.WithoutCancel(ctx), prev, rec)
				}
				return 0, errors.Join(err, errLost)
			}
			s := submit(t.Context(), w, g.order(1))
			wantError(t, errorOf(w.Step(ctx)), context.Canceled)
			mustClose(t, w)
			synctest.Wait()
			wantApplied(t, s, 3)
			fresh, again := newWorld(t, store.Options{}, l)
			wantSame(t, g, fresh)
			mustClose(t, again)
		})
	}
}

func TestStep_InsideReadIsErrPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, w := newWorld(t, store.Options{}, l)
		s := submit(t.Context(), w, g.order(1))
		err := w.Read(t.Context(), func(ctx context.Context, _ world.Tick) error {
			_, err := w.Step(ctx)
			return errors.Join(err, w.Run(ctx), w.Handoff(ctx, ""))
		})
		failIf(t, !errors.Is(err, store.ErrPhase) || strings.Count(err.Error(), "\n") != 2, "inside a Read: %v", err)
		steps(t, w, 1)
		synctest.Wait()
		wantApplied(t, s, 1)
		mustClose(t, w)
	})
}

func TestRun_ClosedLogEndsFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w := mustOpen(t, newGame(t, store.Options{}), l)
		steps(t, w, 1)
		f := &faulty{Log: l}
		v := mustOpen(t, newGame(t, store.Options{}), f)
		f.tail = func(context.Context) (uint64, error) { return 0, fmt.Errorf("gone: %w", fs.ErrClosed) }
		wantError(t, v.Run(within(t, time.Minute)), fs.ErrClosed)
		mustClose(t, v, w)
	})
}
