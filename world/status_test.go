package world_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"handloom/internal/entrance"
	kit "handloom/proof/game"
	"handloom/store"
	"handloom/world"
)

func TestStatus_HasTextAndJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		w, v := mustOpen(t, newGame(t, store.Options{}), l), mustOpen(t, newGame(t, store.Options{}), l)
		for range 10 {
			steps(t, w, 1)
			time.Sleep(time.Millisecond)
			steps(t, v, 1)
		}
		synctest.Wait()
		leads, follows := w.Status(), v.Status()
		failIf(t, !leads.Leader || leads.Tick != 10 || leads.Position != 11 || leads.SavedTick != 7 || leads.Lag != 0, "%+v", leads)
		failIf(t, follows.Leader || follows.Tick != 10 || follows.Lag != time.Millisecond, "%+v", follows)
		for w, s := range map[*world.World]world.Status{w: leads, v: follows} {
			equal(t, "at a glance", w.Entrance(entrance.Key{}), entrance.State{Leader: s.Leader, Waits: s.Waits, ClockOff: s.ClockOff})
		}
		line := "leads: term 1, tick 10, record 11, lag 0s; appends p99 0s; snapshot of tick 7, 4ms ago"
		equal(t, "String", leads.String(), line)
		b, err := json.Marshal(follows)
		var back world.Status
		noError(t, json.Unmarshal(b, &back))
		equal(t, "status from JSON", back, follows)
		noError(t, err)
		var log strings.Builder
		slog.New(slog.NewTextHandler(&log, nil)).Info("world", "status", follows)
		want := `status="follows: term 1, tick 10, `
		failIf(t, !strings.Contains(log.String(), want), "it is logged as %s", log.String())
		mustClose(t, w, v)
	})
}

func TestRead_ShowsWholeTicks(t *testing.T) {
	g, w := newWorld(t, store.Options{}, world.Memory())
	ctx, cancel := context.WithCancel(context.Background())
	read := make(chan struct{})
	go func() {
		defer close(read)
		for ctx.Err() == nil {
			err := w.Read(ctx, func(ctx context.Context, tick world.Tick) error {
				d, err := g.Digest(ctx)
				g.mutex.Lock()
				defer g.mutex.Unlock()
				want, ok := g.digests[tick.Number]
				failIf(t, err == nil && ok && want != d, "a reader of tick %d sees another state", tick.Number)
				return err
			})
			if err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}()
	steps(t, w, 50)
	cancel()
	<-read
	mustClose(t, w)
}

func TestApplied_GetsEveryTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := world.Memory()
		g, w := newWorld(t, store.Options{}, l)
		steps(t, w, 3)
		crash(t, w)
		h, v := newWorld(t, store.Options{}, l)
		steps(t, v, 1)
		for i, o := range h.seen {
			failIf(t, o.Number != uint64(i+1) || o.Replay != (i < 3) || o.Leader != (i == 3), "%+v", o)
			if i < 3 {
				equal(t, "replayed tick", o.Tick, g.seen[i].Tick)
			}
		}
		equal(t, "ticks", len(h.seen), 4)
		mustClose(t, v)
	})
}

// The figures of a journal, before and after a torn write.
func TestStatus_NamesTornTail(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	j := openJournal(t, dir)
	_, w := newWorld(t, alone, j)
	steps(t, w, 300)
	noError(t, w.Handoff(t.Context(), "game"))
	var disk int64
	files, err := os.ReadDir(dir)
	noError(t, err)
	for _, f := range files {
		info, err := f.Info()
		noError(t, err)
		disk += info.Size()
	}
	before := w.Status()
	failIf(t, before.Cut != "" || before.DiskBytes != disk || disk < 2*before.SavedBytes, "%+v, want %d bytes on disk", before, disk)
	crash(t, w)
	noError(t, j.Close())
	noError(t, kit.TearJournal(dir))

	j = openJournal(t, dir)
	w = mustOpen(t, newGame(t, alone), j)
	s := w.Status()
	equal(t, "bytes of the snapshot after recovery", s.SavedBytes, before.SavedBytes)
	want := fmt.Sprintf("record %d: at most ", before.Position)
	failIf(t, !strings.HasPrefix(s.Cut, want) || s.Cut != j.CutText() || !strings.Contains(s.String(), "; "+s.Cut), "cut %q, want %q...; String %q", s.Cut, want, s)
	mustClose(t, w)
	noError(t, j.Close())

	w = mustOpen(t, newGame(t, alone), openJournal(t, dir))
	equal(t, "torn tail after another Open", w.Status().Cut, "")
	mustClose(t, w)
}

// figuredLog is a log with figures of its own.
type figuredLog struct{ world.Log }

func (figuredLog) DiskBytes() (int64, error) { return 4, nil }
func (figuredLog) CutText() string           { return "cut" }

func TestStatus_HasFiguresOfLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := figuredLog{world.Memory()}
		w := mustOpen(t, newGame(t, store.Options{}), l)
		observer := mustOpen(t, newGame(t, store.Options{}), l, func(o *world.Options) { o.Observe = true })
		for _, s := range []world.Status{w.Status(), observer.Status()} {
			failIf(t, s.DiskBytes != 4 || s.Cut != "cut", "%+v", s)
		}
		mustClose(t, observer, w)
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
		w := mustOpen(t, g, world.Memory(), func(o *world.Options) { o.Hz = 100 })
		ctx := within(t, 4*time.Second-time.Millisecond)
		wantError(t, w.Run(ctx), context.DeadlineExceeded)
		s := w.Status()
		failIf(t, s.Tick != 390 || s.TickP99 != 0, "%+v", s)
		mustClose(t, w)
	})
}
