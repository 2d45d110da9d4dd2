package world_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"handloom/store"
	"handloom/world"
)

// figuredLog is a log with figures of its own.
type figuredLog struct{ world.Log }

func (figuredLog) DiskBytes() (int64, error) { return 4, nil }
func (figuredLog) CutText() string           { return "cut" }

func TestStatus_HasFiguresOfLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := figuredLog{world.Memory()}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		observer := openWith(t, newGame(t, store.Options{}), l, func(o *world.Options) { o.Observe = true })
		for _, s := range []world.Status{w.Status(), observer.Status()} {
			failIf(t, s.DiskBytes != 4 || s.Cut != "cut", "%+v", s)
		}
		mustClose(t, observer, w)
	})
}

func TestStatus_CountsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.New(store.Options{})
		table := store.Register(s, store.TableOptions[int]{Name: "seat", MaxItems: 2})
		w, err := world.Open(t.Context(), s, world.Memory(), world.Options{Tick: func(ctx context.Context, _ *store.Writer, _ world.Tick) error {
			_, err := s.Flush(ctx)
			return err
		}})
		noError(t, err)
		var calls []*submission
		for range 3 {
			calls = append(calls, submit(t.Context(), w, func(q store.Queue) error {
				table.Emplace(q, 1)
				return nil
			}))
		}
		equal(t, "waiting calls", w.Status().CallsWaiting, 3)
		steps(t, w, 1)
		synctest.Wait()
		got := w.Status()
		failIf(t, got.CallsWaiting != 0 || !errors.Is(calls[2].err, store.ErrFull), "%+v; %v", got, calls[2].err)
		mustClose(t, w)
	})
}

func TestStatus_MeasuresTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGame(t, alone)
		g.fault = func(tick world.Tick) error {
			switch tick.Number {
			case 10:
				time.Sleep(50 * time.Millisecond)
			case 200:
				time.Sleep(110 * time.Millisecond) // Run catches up on two ticks, as after tick 10
			}
			return nil
		}
		w := openWith(t, g, world.Memory(), func(o *world.Options) { o.Hz = 100 })
		ctx := within(t, 4*time.Second-time.Millisecond)
		wantError(t, w.Run(ctx), context.DeadlineExceeded)
		s := w.Status()
		failIf(t, s.Tick != 390 || s.TickP99 != 0, "%+v", s)
		mustClose(t, w)
	})
}

func TestStatus_HasDiskUseOfJournal(t *testing.T) {
	dir := t.TempDir()
	j := openJournal(t, dir)
	w := mustOpen(t, newGame(t, store.Options{}), j)
	steps(t, w, 300)
	noError(t, w.Handoff(t.Context(), "game"))
	var want int64
	files, err := os.ReadDir(dir)
	noError(t, err)
	for _, f := range files {
		info, err := f.Info()
		noError(t, err)
		want += info.Size()
	}
	s := w.Status()
	failIf(t, s.DiskBytes != want || want < 2*s.SavedBytes, "%+v, want %d bytes on disk", s, want)
	crash(t, w)
	again := mustOpen(t, newGame(t, store.Options{}), j)
	equal(t, "bytes of the snapshot after recovery", again.Status().SavedBytes, s.SavedBytes)
	mustClose(t, again)
}
