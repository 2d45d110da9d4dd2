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

// Close fails only for what may be lost: with ErrUncertain for calls, and with the error of the log
// for ticks that lack a record. Other records decide about nothing.
func TestClose_PendingRecord(t *testing.T) {
	for _, kind := range []string{"a term start", "a tick", "a call", "a handoff", "ticks without a record"} {
		for fate, change := range map[string]func(t *testing.T, l *faulty){
			"arrives":     func(_ *testing.T, l *faulty) { l.append = nil },
			"has arrived": func(t *testing.T, l *faulty) { l.append = answers(t, l, errLost) },
			"is lost":     func(*testing.T, *faulty) {},
			"is late":     func(t *testing.T, l *faulty) { l.append = answers(t, l, nil) },
			"comes last":  func(t *testing.T, l *faulty) { leadFor(t, l, 2) },
			"is trimmed":  func(t *testing.T, l *faulty) { leadFor(t, l, 40) },
		} {
			inBubble(t, kind+" "+fate, func(t *testing.T) {
				l := &faulty{Log: world.Memory()}
				g, w, s := newPending(t, l, kind)
				change(t, l)
				err := w.Close(t.Context())
				in := fate == "arrives" || fate == "has arrived"
				unknown := kind == "a call" && !in && fate != "comes last"
				lost := kind == "ticks without a record" && !in
				if errors.Is(err, store.ErrUncertain) != unknown || (err != nil) != (unknown || lost) || lost && !strings.Contains(err.Error(), "2 ticks without input") {
					t.Errorf("Close: %v; a call may be applied: %t, ticks are lost: %t", err, unknown, lost)
				}
				wantFree(t, w, g)
				failIf(t, errors.Is(s.err, store.ErrUncertain) != unknown || kind == "a call" && (s.err == nil) != in, "Submit: %v", s.err)
				fresh, again := newWorld(t, alone, l.Log)
				if in {
					wantSame(t, g, fresh)
				}
				crash(t, again)
			})
		}
	}
}

// answers returns an Append that answers with err, or late.
func answers(t *testing.T, l *faulty, err error) func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
	return func(ctx context.Context, prev uint64, rec []byte) (uint64, error) {
		if err == nil {
			<-ctx.Done()
		}
		return 0, errors.Join(errorOf(l.Log.Append(t.Context(), prev, rec)), err, context.Cause(ctx))
	}
}

// newPending returns a World and a log that has not answered its last record.
func newPending(t *testing.T, l *faulty, kind string) (*game, *world.World, *submission) {
	t.Helper()
	s, g := new(submission), newGame(t, alone)
	idle := time.Duration(1)
	switch kind {
	case "a term start":
		other := mustOpen(t, newGame(t, alone), l.Log)
		mustStep(t, other)
		defer crash(t, other)
	case "ticks without a record":
		idle = 0
	}
	w := mustOpen(t, g, l, func(o *world.Options) { o.Idle = idle })
	if idle == 0 {
		pass(t, w, 3)
	}
	l.append = func(context.Context, uint64, []byte) (uint64, error) { return 0, errLost }
	ctx := within(t, time.Second)
	switch kind {
	case "ticks without a record":
		return g, w, s
	case "a handoff":
		wantError(t, w.Handoff(ctx, "game"), context.DeadlineExceeded)
		return g, w, s
	case "a call":
		s = submit(t.Context(), w, g.order(1))
	}
	wantError(t, errorOf(w.Step(ctx)), context.DeadlineExceeded, errLost)
	return g, w, s
}

// leadFor ends the fault of a log and runs ticks of another World.
func leadFor(t *testing.T, l *faulty, ticks int) {
	t.Helper()
	l.append = nil
	w := mustOpen(t, newGame(t, alone), l.Log)
	stepsSaving(t, w, ticks)
	crash(t, w)
}
